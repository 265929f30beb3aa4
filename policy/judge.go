package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// Verdict is what held for a call at the level it met, and why.
type Verdict struct {
	Mode         taint.Mode
	Level        taint.Level
	Rule         string // the short id of the rule that decided
	Why          []Step // the path, first rule first
	Grantable    bool   // a lasting grant may answer it
	Reason       string // what the agent may be told of a restrict, if the owner said something
	LogContext   bool   // the owner wants all of the context in the log
	PersistGraph bool   // the graph of the call's turn belongs into the record
	Tainted      bool   // outside content could drive it: a sink in a tainted conversation
	AtCap        bool   // the run is at its cap: a person's yes lets it go on, see [Plan.GoesOn]
	Secret       bool   // it could carry a secret out: only a person's yes to this very call lets it pass
	LevelAlone   bool   // only what came into the conversation asks, so an auditor may answer

	ownerAsks bool // a policy asks, whether or not it changed the mode
}

// Step is one rule on the path to a verdict.
type Step struct {
	Rule string
	Text string     // a sentence
	Mode taint.Mode // after the rule
}

// Judge says what holds for a call in a conversation as the view shows it.
func (p *Policy) Judge(c *protocol.Call, v View) Verdict {
	plan := p.Plan(c)
	return plan.Judge(v)
}

// Judge is [Policy.Judge] for a call that was planned already.
func (pl *Plan) Judge(v View) Verdict {
	out := Verdict{Level: min(v.Level, untrusted)} // an unknown level is the worst one
	j := judgement{pl, &out, &v}
	steps := pl.why[out.Level]
	last := &steps[len(steps)-1]
	out.Mode, out.Rule = last.Mode, last.Rule
	out.Why = append(append(make([]Step, 0, 4), Step{"level", pl.origin(out.Level, &v), allow}), steps...)
	if pl.gate == "" {
		j.policies()
		j.gateSecrets()
		j.atCap()
		if does := j.command(); does != "" && out.Mode == confirm {
			j.explain(Step{"command", does, out.Mode})
		}
	}
	// A grant, and an auditor, answer what the tool's row says at this level and taint-escalation. All else wants a
	// person: see [Plan.hold].
	row := out.Mode != restrict && !pl.rule.asks[out.Level] && !out.ownerAsks && !out.AtCap && !out.Secret
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
	view *View
}

// add adds the rule that decides from here on.
func (v *Verdict) add(rule, text string, m taint.Mode) {
	v.Rule, v.Mode = rule, m
	v.Why = append(v.Why, Step{rule, text, m})
}

// explain adds what decides nothing, after the level: the last step is the rule that decided.
func (j *judgement) explain(s Step) { j.out.Why = slices.Insert(j.out.Why, 1, s) }

// Sentences is the path in plain words.
func (v Verdict) Sentences() []string {
	out := make([]string, len(v.Why))
	for i, s := range v.Why {
		out[i] = s.Text
	}
	return out
}

// origin says what made the conversation's level what it is.
func (pl *Plan) origin(level taint.Level, v *View) string {
	if v.Lost {
		return "The store has lost what it knew, so the conversation counts as " + level.String() + "."
	}
	is := level.String()
	if level <= taint.Owner {
		is = "the " + is + "'s"
	}
	if what, _ := pl.came(level, v); what != "" {
		is += ": " + strings.ToLower(what[:1]) + what[1:]
	}
	return "The conversation is " + is + "."
}

// allowKnown lets a command pass that only waits because of the level, and that is known: see [Plan.knownEffect]. It
// never passes where the conversation holds a secret or the call bears one, nor under the profile strict; and what runs
// files of the workspace only where a person has seen all that was written there.
func (j *judgement) allowKnown() {
	v := j.view
	if !j.out.LevelAlone || j.Effect == command.Anything || j.policy.Strict || v.Lost || v.Secret != "" ||
		v.Bears {
		return
	}
	text := "This only looks at files in the workspace, as read does, so it may run."
	if j.Effect == command.Local {
		if !v.Seen {
			return
		}
		text = "This builds, tests or looks at what is in the workspace, and nothing was written there unseen, so it " +
			"may run."
	}
	j.out.LevelAlone = false
	j.out.add("known-command", text, allow)
}

// command says what is not known of the call's command; "" where that is not why it asks.
func (j *judgement) command() string {
	switch {
	case j.Line == nil:
		return ""
	case j.Effect == command.Local && !j.view.Seen && j.view.Mark != "":
		return "Files were written in the workspace that you have not seen. Look at them, then `.reset-trust " +
			j.view.Mark + "` lets builds run unasked again."
	case j.Line.Network:
		return "This reaches the network."
	}
	return j.Line.Why
}

// gateSecrets asks before data leaves a conversation that has read secrets, and before a call gives a secret away.
func (j *judgement) gateSecrets() {
	var why string
	switch {
	case !j.Leaves:
		return
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
	j.out.Secret = true
	j.out.add("secrets", why, taint.Stricter(j.out.Mode, confirm))
}

// bringsSecret reports whether an argument holds something that a call returned which read secrets.
func bringsSecret(view *View) bool {
	for _, o := range view.Origins {
		if o.From == lineage.FromTool && o.Secret {
			return true
		}
	}
	return false
}

// The two patterns in which calls that are each permitted do harm together. They name what is going on for the person
// who is asked; they decide nothing.
const (
	rogueAction    = "injection-rogue-action"
	lethalTrifecta = "lethal-trifecta"

	unknownStart = "We don't know who started this run"
	unknownText  = unknownStart + ", and this changes or sends something."
)

// namePattern marks a sink in a tainted conversation and says which pattern it completes. Where nothing came in that is
// known of, and the level is bad only because the client does not say who started the run, it says that instead.
func (j *judgement) namePattern() {
	acts := j.sink || j.out.Secret || j.policy.Strict && (j.rule.strictSink || j.rule.opens && j.Leaves)
	if !acts || j.gate != "" || j.out.Level < j.policy.TaintedFrom {
		return
	}
	j.out.Tainted = true
	if j.out.Mode == allow {
		return
	}
	unknown := j.Initiator.Unknown && (j.view.Cause.What == j.Initiator.Why || j.view.Cause.Level < j.out.Level)
	rule, text := rogueAction, "The agent has read outside content and now wants to act on something."
	switch holds := j.view.Secret != "" || j.out.Secret; {
	case unknown && holds:
		rule, text = lethalTrifecta, unknownStart+". The agent has read secrets, and this could send them out."
	case holds:
		rule, text = lethalTrifecta, "The agent has read outside content and secrets, and this could send them out."
	case unknown:
		text = unknownText
	}
	j.explain(Step{rule, text, j.out.Mode})
}

// View is what a call is judged on: its conversation as it is at that moment.
type View struct {
	Now    time.Time
	Level  taint.Level // before the call
	Cause  Cause       // what made the level what it is
	Lost   bool        // the store has lost what it knew: the level is a guess, the worst
	Secret string      // what was read here that holds secrets; empty: nothing was
	Seen   bool        // a person has seen all that was written into the workspace
	Mark   string      // where not: by which name the owner says that they have looked; empty: not known
	Calls  int         // that the run has made
	Yeses  int         // that people have given at its cap
	Halted bool        // a person, or its runtime, has ended it

	Bears   bool            // the call itself holds something that looks like a secret
	Origins lineage.Origins // where its arguments came from; nil: not known
	// not all of the call could be compared with what the conversation read where secrets are kept
	Unread bool
}

// Cause is what last made a conversation worse.
type Cause struct {
	What  string
	Level taint.Level
	At    time.Time
}

// Iterations is the iteration from which on a turn of an agent needs a person's yes, after that many of them.
func (p *Policy) Iterations(agent string, yeses int) int { return p.rulesFor(agent).cap << yeses }

// mostYeses is how often a yes at the cap doubles it.
const mostYeses = 10

// runCap limits the calls of a run that do not tell their iteration: an iteration may make many calls, so the two are
// not the same. It also limits a run that told iterations before and no longer does: the last one would bind for ever
// or never. What only looks, builds or tests does not count.
func (pl *planner) runCap() int {
	if pl.Context.RunID == "" || pl.Context.Iteration != nil || pl.Effect != command.Anything ||
		pl.rule.safe && !pl.rule.strictSink && !pl.Leaves {
		return 0
	}
	return pl.policy.calls
}

// isOver reports whether the iteration is at the cap, after so many yeses to calls there.
func (pl *Plan) isOver(yeses int) bool { return pl.iteration != nil && *pl.iteration >= pl.cap<<yeses }

// GoesOn is the number of yeses of the run with one for this call, or as many as it takes to let this call pass.
func (pl *Plan) GoesOn(yeses int) int {
	for yeses++; yeses < mostYeses && pl.isOver(yeses); {
		yeses++
	}
	return min(yeses, mostYeses)
}

// atCap holds the call to what its run may use. Each yes at the cap has doubled it; after a no, nothing passes there.
func (j *judgement) atCap() {
	v, rule, text, calls := j.view, "run-cap", "The run has used up its iterations.", j.RunCap<<j.view.Yeses
	switch {
	case j.isOver(v.Yeses):
		rule, text = "iterations", fmt.Sprintf("The model was called %d times in this run, and your limit is %d.",
			*j.iteration+1, j.cap<<v.Yeses)
	case calls == 0 || v.Calls <= calls && !v.Halted:
		return
	case !v.Halted:
		text = fmt.Sprintf("The run has made more than %d calls, which is your limit.", calls)
	}
	mode := restrict
	if !v.Halted && j.out.Mode != restrict {
		mode = confirm
		text += " If you allow this call, the run may use twice as many; if you deny it, the run makes no more calls."
	}
	j.out.AtCap = true
	j.out.add(rule, text, mode)
}
