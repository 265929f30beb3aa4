package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Verdict is what held for a call at the level it met, and why.
type Verdict struct {
	Mode       taint.Mode
	Level      taint.Level
	Rule       string // the short id of the rule that decided
	Why        []Step // the path, first rule first
	Grantable  bool   // a lasting grant may cover it
	Reason     string // what the agent may be told of a restrict, if the owner said something
	LogContext bool   // the owner wants all of the context in the log
	Tainted    bool   // outside content could drive it: a sink in a tainted conversation
	AtCap      bool   // the run has used up its iterations or its calls: a person's yes lets it go on, see [Plan.GoesOn]

	Secret       bool // it could carry a secret out: only a person's yes to this very call lets it pass
	PersistGraph bool // the graph of the call's turn belongs into the record

	LevelAlone bool // only what came into the conversation asks: see [ruling.levelAlone]
	ownerAsks  bool // a policy asks, whether or not it changed the mode
}

// Step is one rule on the path to a verdict.
type Step struct {
	Rule string
	Text string     // a sentence
	Mode taint.Mode // after the rule
}

// Judge says what holds for a call in a conversation as the view shows it.
func (p *Policy) Judge(c *toolcall.Call, v session.View) Verdict {
	plan := p.Plan(c)
	plan.Loop(0, false)
	return plan.Judge(v)
}

// Judge is [Policy.Judge] for a call that was planned already.
func (pl *Plan) Judge(v session.View) Verdict {
	// An unknown level is the worst one.
	level := min(v.Level, untrusted)
	out := Verdict{Level: level, Mode: pl.Modes[level], Why: make([]Step, 0, 4)}
	j := judgement{pl, &out, &v}
	out.Why = append(out.Why, Step{Rule: "level", Text: pl.origin(level, &v), Mode: allow})
	if pl.gate.rule != "" {
		out.add(pl.gate.rule, pl.gate.text, out.Mode)
	} else {
		pl.explain(&out, level)
		j.explainDeclared(level, pl.ruled(level))
		j.gateSecrets()
		j.explainLoop()
	}
	if does := j.command(); does != "" && pl.gate.rule == "" && out.Mode != restrict && (level >= external || out.Secret || v.Secrets == session.Holds) {
		out.Why = slices.Insert(out.Why, 1, Step{Rule: "command", Text: does, Mode: out.Mode}) // after the level, as a pattern is
	}
	out.Grantable = pl.Grantable && out.Mode != restrict && !out.AtCap && !out.Secret
	out.LevelAlone = pl.levelAlone(&out)
	j.allowSeen()
	j.allowLook()
	if !v.Lost {
		j.namePattern()
	}
	return out
}

// judgement is a plan at one view of its conversation: what is added to the ruling of its tool.
type judgement struct {
	*Plan
	out  *Verdict
	view *session.View
}

func (v *Verdict) add(rule, text string, m taint.Mode) {
	v.Rule = rule
	v.Why = append(v.Why, Step{Rule: rule, Text: text, Mode: m})
}

// Sentences is the path in plain words.
func (v Verdict) Sentences() []string {
	out := make([]string, len(v.Why))
	for i, s := range v.Why {
		out[i] = s.Text
	}
	return out
}

// origin says what made the conversation's level what it is.
func (pl *Plan) origin(level taint.Level, v *session.View) string {
	if v.Lost {
		return "The store has lost what it knew, so the conversation counts as " + level.String() + "."
	}
	text := "The conversation is " + level.String()
	if level <= taint.Owner {
		text = "The conversation is the " + level.String() + "'s"
	}
	if what, _ := pl.came(level, v); what != "" {
		text += ": " + strings.ToLower(what[:1]) + what[1:]
	}
	return text + "."
}

// verbs are what a policy does to a call in each mode, before the name of a tool.
var verbs = map[taint.Mode]string{allow: "allows", confirm: "asks before", restrict: "blocks"}

// outcomes are what a mode means for the call, as the end of a sentence.
var outcomes = map[taint.Mode]string{allow: "it may run", confirm: "you are asked", restrict: "it is blocked"}

// ruling is what the rules of the tool say of a call at each level, before the owner's policies.
type ruling struct {
	set      *ruleset
	rule     *rule
	gate     gate
	from     taint.Level // tainted from here on
	by       string      // what of the call makes it act, where the tool does not
	sink     bool        // this call acts outside
	gets     bool        // this call fetches from an address that it names
	visits   bool        // this call of the browser only looks at a page
	polls    bool        // this call of process only looks at what commands printed
	outwards string      // why its command asks at every level, see [Policy.outward]; "" where it does not
}

// explain walks the stages of the tool's row and keeps those that changed the
// mode.
func (r *ruling) explain(v *Verdict, l taint.Level) {
	t := &r.rule.table
	first := &r.rule.first[l]
	v.add(first.Rule, first.Text, first.Mode)
	if t.closed[l] != t.raw[l] {
		v.add("closed", r.closed(t.closed[l]), t.closed[l])
	}
	if t.escalated[l] != t.closed[l] {
		v.add("taint-escalation", "Outside content could make the agent use "+r.rule.called()+", so "+outcomes[t.escalated[l]]+".", t.escalated[l])
	}
	if t.reclosed[l] != t.escalated[l] {
		v.add("closed", r.closed(t.reclosed[l]), t.reclosed[l])
	}
	if t.modes[l] != t.reclosed[l] {
		v.add("agent", r.agent()+outcomes[t.modes[l]]+".", t.modes[l])
	}
	if m := r.ruled(l); r.by != "" && m != t.modes[l] && !r.gate.blind {
		v.add("taint-escalation", "This call of "+r.rule.called()+" acts by "+r.by+", so "+outcomes[m]+".", m)
	}
	if m := r.ruled(l); r.gets && r.by == "" && !r.gate.blind && m != t.modes[l] {
		v.add("taint-escalation", "This call of "+r.rule.called()+" fetches an address, which can carry data out, so "+outcomes[m]+".", m)
	}
	if m := r.ruled(l); r.visits && m != t.modes[l] {
		v.add("visit", "This call of "+r.rule.called()+" only looks at a page, as web_fetch does, so "+outcomes[m]+".", m)
	}
	if m := r.ruled(l); r.polls && m != t.modes[l] {
		v.add("visit", "This call of "+r.rule.called()+" only looks at what a running command has printed, so "+outcomes[m]+".", m)
	}
	r.explainOutward(v, l)
	if r.gate.blind && r.ruled(l) != t.modes[l] {
		v.add("blind-send", "The agent has read outside content, and this names no session to send to. We could not follow it there, so it is blocked.", restrict)
	}
}

// ruled is the mode at a level before the owner's policies.
func (r *ruling) ruled(l taint.Level) taint.Mode {
	m := r.rule.table.modes[l]
	if r.by != "" {
		m = r.rule.sinkModes[l]
	}
	if r.visits || r.polls {
		m = r.rule.looking[l]
	}
	if r.gets {
		m = taint.Stricter(m, r.rule.getting[l])
	}
	if r.asksOutward(l) {
		m = taint.Stricter(m, confirm)
	}
	if r.gate.blind && l >= r.from {
		m = restrict
	}
	return m
}

// AllowingRules are the ids of the rules that let a call pass which waits only because of what came into the conversation.
func AllowingRules() []string { return []string{seenRule, lookRule} }

// firsts are the rules that gave the tool its mode, before any tightening.
func (r *rule) firsts() (out [taint.Levels]Step) {
	for _, l := range taint.All() {
		rule, text := r.firstAt(l)
		out[l] = Step{Rule: rule, Text: text, Mode: r.table.raw[l]}
	}
	return out
}

func (r *rule) firstAt(l taint.Level) (rule, text string) {
	name, m := r.called(), r.table.raw[l]
	switch r.table.origin[l] {
	case byOverride:
		return "override", "Your override " + verbs[m] + " " + name + " in " + l.String() + " conversations."
	case byOverrideAny:
		return "override", "Your override " + verbs[m] + " " + name + " at every level."
	case bySafe:
		return "safe", r.begins() + " is on the safe list: it " + r.reason + "."
	case byDangerous:
		return "dangerous", r.begins() + " is on the dangerous list (it " + r.reason + "), so you are asked at every level."
	case byPolicy:
		fallthrough
	default:
		if !r.known {
			return "taintPolicy", "We don't know this tool. Your policy " + verbs[m] + " such tools in " + l.String() + " conversations."
		}
		return "taintPolicy", "Your policy " + verbs[m] + " " + name + " in " + l.String() + " conversations."
	}
}

// called is what the tool is called in a sentence. The name of a tool that
// nothing names is the caller's text, and stays out of it.
func (r *rule) called() string {
	if r.name == "" || strings.HasSuffix(r.name, "__") { // nothing, or all tools of a server
		return "this tool"
	}
	return r.name
}

// begins is the same at the beginning of a sentence.
func (r *rule) begins() string {
	if name := r.called(); name != "this tool" {
		return name
	}
	return "This tool"
}

func (r *ruling) agent() string {
	if r.set.agent == "" {
		return "The call names no agent, so the strictest agent's rules hold: "
	}
	return "Your rules for the agent " + r.set.agent + " are stricter: "
}

// closed says that a tool is no freer at a level than at a more trusted one.
func (r *ruling) closed(m taint.Mode) string {
	return "Your policy " + verbs[m] + " " + r.rule.called() + " in more trusted conversations, and so in this one."
}
