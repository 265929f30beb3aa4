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

	LevelAlone bool // only what came into the conversation asks: see [Plan.levelAlone]
	ownerAsks  bool // a policy or a limit asks, whether or not it changed the mode
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
	// A level nobody knows is the worst one.
	level := min(v.Level, untrusted)
	out := Verdict{Level: level, Mode: pl.Modes[level], Why: make([]Step, 0, 4)}
	out.Why = append(out.Why, Step{Rule: "level", Text: pl.origin(level, &v), Mode: allow})
	if pl.gate.rule != "" {
		out.add(pl.gate.rule, pl.gate.text, out.Mode)
	} else {
		pl.explain(&out, level)
		pl.explainDeclared(&out, level, &v, pl.ruled(level))
		pl.gateSecrets(&out, &v)
		pl.explainLoop(&out, &v)
	}
	if does := pl.command(&v); does != "" && pl.gate.rule == "" && out.Mode != restrict && (level >= external || out.Secret || v.Secrets == session.Holds) {
		out.Why = slices.Insert(out.Why, 1, Step{Rule: "command", Text: does, Mode: out.Mode}) // after the level, as a pattern is
	}
	out.Grantable = pl.Grantable && out.Mode != restrict && !out.AtCap && !out.Secret
	out.LevelAlone = pl.levelAlone(&out)
	pl.allowSeen(&out, &v)
	pl.allowLook(&out)
	pl.allowLocal(&out, &v)
	if !v.Lost {
		pl.namePattern(&out, &v)
	}
	return out
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

// explain walks the stages of the tool's row and keeps those that changed the
// mode.
func (pl *Plan) explain(v *Verdict, l taint.Level) {
	t := &pl.rule.table
	first := &pl.rule.first[l]
	v.add(first.Rule, first.Text, first.Mode)
	if t.closed[l] != t.raw[l] {
		v.add("closed", pl.closed(t.closed[l]), t.closed[l])
	}
	if t.escalated[l] != t.closed[l] {
		v.add("taint-escalation", "Outside content could make the agent use "+pl.rule.called()+", so "+outcomes[t.escalated[l]]+".", t.escalated[l])
	}
	if t.reclosed[l] != t.escalated[l] {
		v.add("closed", pl.closed(t.reclosed[l]), t.reclosed[l])
	}
	if t.modes[l] != t.reclosed[l] {
		v.add("agent", pl.agent()+outcomes[t.modes[l]]+".", t.modes[l])
	}
	if pl.by != "" && pl.ruled(l) != t.modes[l] && !pl.gate.blind {
		v.add(pl.altered(l))
	}
	if m := pl.ruled(l); pl.gets && pl.by == "" && !pl.gate.blind && m != t.modes[l] {
		v.add("taint-escalation", "This call of "+pl.rule.called()+" fetches an address, which can carry data out, so "+outcomes[m]+".", m)
	}
	if m := pl.ruled(l); pl.visits && m != t.modes[l] {
		v.add("visit", "This call of "+pl.rule.called()+" only looks at a page, as web_fetch does, so "+outcomes[m]+".", m)
	}
	if m := pl.ruled(l); pl.polls && m != t.modes[l] {
		v.add("visit", "This call of "+pl.rule.called()+" only looks at what a running command has printed, so "+outcomes[m]+".", m)
	}
	pl.explainOutward(v, l)
	if pl.gate.blind && pl.ruled(l) != t.modes[l] {
		v.add("blind-send", "The agent has read outside content, and this names no session to send to. We could not follow it there, so it is blocked.", restrict)
	}
}

// altered says what a trust rule made of the mode.
func (pl *Plan) altered(l taint.Level) (rule, text string, m taint.Mode) {
	m = pl.ruled(l)
	if pl.sink {
		return "taint-escalation", "Your rule " + pl.by + " says that this call of " + pl.rule.called() + " acts, so " + outcomes[m] + ".", m
	}
	return "trust-rule", "Your rule " + pl.by + " says that this call of " + pl.rule.called() + " does not act, so " + outcomes[m] + ".", m
}

// ruled is the mode at a level before the owner's policies.
func (pl *Plan) ruled(l taint.Level) taint.Mode {
	m := pl.rule.table.modes[l]
	if pl.by != "" {
		m = pl.rule.readModes[l]
		if pl.sink {
			m = pl.rule.sinkModes[l]
		}
	}
	if pl.visits || pl.polls {
		m = pl.rule.looking[l]
	}
	if pl.gets {
		m = taint.Stricter(m, pl.rule.getting[l])
	}
	if pl.asksOutward(l) {
		m = taint.Stricter(m, confirm)
	}
	if pl.gate.blind && l >= pl.from {
		m = restrict
	}
	return m
}

// AskingRules are the ids of the rules that can make a call wait for a person.
func AskingRules() []string {
	return []string{"override", "dangerous", "taintPolicy", "taint-escalation", "closed", "agent", "policy", "limit", "iterations", "run-cap", secretsRule, outwardRule}
}

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

func (pl *Plan) agent() string {
	if pl.set.agent == "" {
		return "The call names no agent, so the strictest agent's rules hold: "
	}
	return "Your rules for the agent " + pl.set.agent + " are stricter: "
}

// closed says that a tool is no freer at a level than at a more trusted one.
func (pl *Plan) closed(m taint.Mode) string {
	return "Your policy " + verbs[m] + " " + pl.rule.called() + " in more trusted conversations, and so in this one."
}
