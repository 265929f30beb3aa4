package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
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
	Grantable  bool   // a lasting grant may answer it
	Reason     string // what the agent may be told of a restrict, if the owner said something
	LogContext bool   // the owner wants all of the context in the log
	Tainted    bool   // outside content could drive it: a sink in a tainted conversation
	// the run has used up its iterations or its calls: a person's yes lets it go on, see [Plan.GoesOn]
	AtCap bool

	Secret       bool // it could carry a secret out: only a person's yes to this very call lets it pass
	PersistGraph bool // the graph of the call's turn belongs into the record

	LevelAlone bool // only what came into the conversation asks, so an auditor may answer
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
		j.explainDeclared(level, pl.explain(&out, level))
		j.gateSecrets()
		j.explainLoop()
	}
	if does := j.command(); does != "" && pl.gate.rule == "" && out.Mode == confirm {
		// after the level, as a pattern is
		out.Why = slices.Insert(out.Why, 1, Step{Rule: "command", Text: does, Mode: out.Mode})
	}
	// A grant, and an auditor, answer what the tool's row says at this level and taint-escalation. The owner's
	// overrides, the dangerous list and policies, a cap and the rule after secrets want a person; so does any other
	// rule: see [Plan.tighten].
	row := out.Mode != restrict && !pl.rule.asks[level] && !out.ownerAsks && !out.AtCap && !out.Secret
	out.Grantable = row && pl.Grantable
	// It passes unasked in a conversation that has only read local content.
	out.LevelAlone = row && out.Mode == confirm && pl.Modes[local] == allow &&
		(out.Rule == "taintPolicy" || out.Rule == escalation)
	j.allowKnown()
	if !v.Lost {
		j.namePattern()
	}
	return out
}

// judgement is a plan at one view of its conversation.
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

// explain walks the stages of the tool's row and of the call, keeps those that changed the mode, and returns it.
func (pl *Plan) explain(v *Verdict, l taint.Level) taint.Mode {
	r := pl.rule
	first := &r.first[l]
	v.add(first.Rule, first.Text, first.Mode)
	mode := first.Mode
	for _, stages := range [...][]stage{r.table.stages, pl.stages} {
		for _, s := range stages {
			if s.modes[l] == mode {
				continue
			}
			mode = s.modes[l]
			text := s.text
			if !strings.HasSuffix(text, ".") {
				text += ", so " + outcomes[mode] + "."
			}
			v.add(s.rule, text, mode)
		}
	}
	return mode
}

// allowKnown lets a command pass that only waits because of the level, and that is known: see [Plan.knownEffect]. It
// never passes where the conversation holds a secret or the call bears one, nor under the profile strict; and what runs
// files of the workspace only where a person has seen all that was written there.
func (j *judgement) allowKnown() {
	v := j.view
	if !j.out.LevelAlone || j.Effect == command.Anything || j.policy.strict || v.Lost || v.Secret != "" ||
		v.Secrets == session.Holds ||
		v.Bears {
		return
	}
	text := "This only looks at files in the workspace, as read does, so it may run."
	if j.Effect == command.Local {
		if v.Workspace != session.AllSeen {
			return
		}
		text = "This builds, tests or looks at what is in the workspace, and nothing was written there unseen, so it " +
			"may run."
	}
	j.out.Mode, j.out.LevelAlone = allow, false
	j.out.add("known-command", text, allow)
}

// command says what is not known of the call's command; "" where that is not why it asks.
func (j *judgement) command() string {
	switch {
	case j.Line == nil:
		return ""
	case j.Effect == command.Local && j.view.Workspace != session.AllSeen && j.view.Workspace != "":
		return "Files were written in the workspace that you have not seen. Look at them, then `.reset-trust " +
			j.view.Workspace + "` lets builds run unasked again."
	case j.Line.Network:
		return "This reaches the network."
	}
	return j.Line.Why
}

// gateSecrets asks before a conversation that has read secrets sends anything away, and before any call gives a secret
// away, at every level.
func (j *judgement) gateSecrets() {
	if !j.Leaves {
		return
	}
	var why string
	switch {
	case j.view.Bears:
		why = "This holds what looks like a password or a key, and would send it out."
	case j.Gives != "":
		why = "This would send out " + j.Gives + ", where secrets are kept."
	case bringsSecret(j.view):
		why = "This holds text that the agent read where secrets are kept, and would send it out."
	case j.policy.gated && j.view.Secret != "":
		why = "The agent has read " + j.view.Secret + " and this would send data out."
	case j.view.Unread:
		why = "This could not be compared in full with what the agent read where secrets are kept, and would send " +
			"data out."
	default:
		return
	}
	j.out.Mode, j.out.Secret = taint.Stricter(j.out.Mode, confirm), true
	j.out.add(secretsRule, why, j.out.Mode)
}

// bringsSecret reports whether an argument holds something that a call returned which read secrets.
func bringsSecret(view *session.View) bool {
	for _, o := range view.Origins {
		if o.From == session.FromTool && o.Secret {
			return true
		}
	}
	return false
}

// firsts are the rules that gave the tool its mode, before any tightening.
func (r *rule) firsts() (out [taint.Levels]Step) {
	tool := r.called()
	begin := tool
	if tool != r.name {
		begin = "This tool"
	}
	for _, l := range taint.All() {
		mode := r.table.raw[l]
		s := Step{
			Rule: "taintPolicy",
			Mode: mode,
			Text: "Your policy " + verbs[mode] + " " + tool + " in " + l.String() + " conversations.",
		}
		switch at := r.table.origin[l]; {
		case at == byOverride:
			s.Rule, s.Text = "override", "Your override "+verbs[mode]+" "+tool+" in "+l.String()+" conversations."
		case at == byOverrideAny:
			s.Rule, s.Text = "override", "Your override "+verbs[mode]+" "+tool+" at every level."
		case at == bySafe:
			s.Rule, s.Text = "safe", begin+" is on the safe list: it "+r.reason+"."
		case at == byDangerous:
			s.Rule, s.Text = "dangerous",
				begin+" is on the dangerous list (it "+r.reason+"), so you are asked at every level."
		case !r.known:
			s.Text = "We don't know this tool. Your policy " + verbs[mode] + " such tools in " + l.String() +
				" conversations."
		}
		out[l] = s
	}
	return out
}

// called is what the tool is called in a sentence. The name of a tool that
// nothing names is the caller's text, and stays out of it.
func (f *facts) called() string {
	if f.name == "" || strings.HasSuffix(f.name, "__") { // nothing, or all tools of a server
		return "this tool"
	}
	return f.name
}

// asks says at which levels an override or the dangerous list wants a person or
// refuses. What it says of a more trusted level holds for the less trusted ones.
func (t *table) asks() (out [taint.Levels]bool) {
	asks := false
	for _, l := range taint.All() {
		asks = asks || t.raw[l] != allow && t.origin[l] != byPolicy
		out[l] = asks
	}
	return out
}

// LevelAlone lists the levels at which some tool waits for a person only because
// of what came into the conversation.
func (p *Policy) LevelAlone() []taint.Level {
	var out []taint.Level
	for _, l := range taint.All() {
		for _, r := range p.global.rules {
			if r.inScope && !r.wrapper && r.table.modes[l] == confirm && r.table.modes[local] == allow && !r.asks[l] {
				out = append(out, l)
				break
			}
		}
	}
	return out
}

// The two patterns in which calls that are each permitted do harm together. They
// name what is going on for the person who is asked; they decide nothing.
const (
	rogueAction    = "injection-rogue-action"
	lethalTrifecta = "lethal-trifecta"

	unknownText = "We don't know who started this run, and this changes or sends something."
)

// namePattern marks a sink in a tainted conversation and says which pattern it
// completes. Where nothing came in that is known of, and the level is bad only
// because the client does not say who started the run, it says that instead.
func (j *judgement) namePattern() {
	acts := j.sink || j.out.Secret || j.policy.strict && (j.rule.strictSink || j.rule.opens && j.Leaves)
	if !acts || j.gate.rule != "" || j.out.Level < j.policy.from {
		return
	}
	j.out.Tainted = true
	if j.out.Mode == allow {
		return
	}
	holds := j.view.Secrets == session.Holds || j.out.Secret
	unknown := j.Initiator.Unknown && (j.view.Worst.Label == j.Initiator.Why || j.view.Worst.Level < j.out.Level)
	step := Step{
		Rule: rogueAction,
		Mode: j.out.Mode,
		Text: "The agent has read outside content and now wants to act on something.",
	}
	switch {
	case unknown && holds:
		step.Rule, step.Text = lethalTrifecta, "We don't know who started this run. The agent has read secrets, and "+
			"this could send them out."
	case holds:
		step.Rule, step.Text = lethalTrifecta, "The agent has read outside content and secrets, and this could send "+
			"them out."
	case unknown:
		step.Text = unknownText
	}
	j.out.Why = slices.Insert(j.out.Why, 1, step) // after the level: the last step is the rule that decided
}
