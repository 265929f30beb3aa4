package policy

import (
	"slices"

	"github.com/openclaw-verifier/verifier/session"
)

// The two patterns in which calls that are each permitted do harm together. They
// name what is going on for the person who is asked; they decide nothing.
const (
	rogueAction    = "injection-rogue-action"
	lethalTrifecta = "lethal-trifecta"

	rogueText    = "The agent has read outside content and now wants to act on something."
	trifectaText = "The agent has read outside content and secrets, and this could send them out."
	unknownText  = "We don't know who started this run, and this changes or sends something."
)

// namePattern marks a sink in a tainted conversation and says which pattern it
// completes. Where nothing came in that is known of, and the level is bad only
// because the client does not say who started the run, it says that instead.
func (j *judgement) namePattern() {
	r := j.rule
	acts := j.sink || j.strict && (r.strictSink || j.gets || j.visits)
	acts = acts || j.out.Secret
	if !acts || j.gate.rule != "" || j.out.Level < j.from {
		return
	}
	j.out.Tainted = true
	if j.out.Mode == allow {
		return
	}
	step := Step{Rule: rogueAction, Mode: j.out.Mode, Text: rogueText}
	unknown := j.Initiator.Unknown && (j.view.Worst.Label == j.Initiator.Why || j.view.Worst.Level < j.out.Level)
	switch holds := j.view.Secrets == session.Holds || j.out.Secret; {
	case unknown && holds:
		step = Step{Rule: lethalTrifecta, Mode: j.out.Mode, Text: "We don't know who started this run. The agent has read secrets, and this could send them out."}
	case unknown:
		step.Text = unknownText
	case holds:
		step = Step{Rule: lethalTrifecta, Mode: j.out.Mode, Text: trifectaText}
	}
	j.out.Why = slices.Insert(j.out.Why, 1, step) // after the level: the last step is the rule that decided
}
