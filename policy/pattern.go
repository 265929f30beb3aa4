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
)

// namePattern marks a sink in a tainted conversation and says which pattern it
// completes. Where nothing came in that is known of, and the level is bad only
// because the client does not say who started the run, it says that instead.
func (pl *Plan) namePattern(v *Verdict, view *session.View) {
	r := pl.rule
	acts := pl.sink || pl.by == "" && pl.strict && (r.strictSink || pl.gets || pl.visits)
	acts = acts || v.Secret
	if !acts || pl.gate.rule != "" || v.Level < pl.from {
		return
	}
	v.Tainted = true
	if v.Mode == allow {
		return
	}
	step := Step{Rule: rogueAction, Mode: v.Mode, Text: "Pattern: injection and rogue action. Outside content came in, and this acts."}
	unknown := pl.Standing.Unknown && (view.Worst.Label == pl.Standing.Why || view.Worst.Level < v.Level)
	switch holds := view.Secrets == session.Holds || v.Secret; {
	case unknown && holds:
		step = Step{Rule: lethalTrifecta, Mode: v.Mode, Text: "This client doesn't tell us who started the run. Secrets came in, and this could carry them out."}
	case unknown:
		step.Text = "This client doesn't tell us who started the run, and this acts."
	case holds:
		step = Step{Rule: lethalTrifecta, Mode: v.Mode, Text: "Pattern: lethal trifecta. Outside content and secrets came in, and this could carry them out."}
	}
	v.Why = slices.Insert(v.Why, 1, step) // after the level: the last step is the rule that decided
}
