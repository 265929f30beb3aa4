package verifier

import (
	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// ByOwnWords is what consented where the call is the owner's own words, ByGrant
// where one that they gave covers it, ByDestination where that is for calls to the
// same destinations, ByCompletes where it completes what they approved.
const (
	ByOwnWords    = "own-words"
	ByGrant       = "grant"
	ByDestination = "destination"
	ByCompletes   = policy.CompletesRule
	ByStanding    = "standing-consent" // one that a person gave for calls to the same destinations in every conversation of the agent
)

// grantedBy is what a grant is called in the record.
func grantedBy(g *session.Grant) string {
	if g.IsDestination() {
		return ByDestination
	}
	return ByGrant
}

// ownWords lets pass what the owner asked for word for word.
type ownWords struct{ hide *hiding }

// lets reports whether the owner's last message asks for exactly this call, in
// the one form that is no sentence (see [lineage.Form]). It can let pass only what
// is asked about because outside content came in, and nothing in a conversation
// that may hold a secret.
func (w *ownWords) lets(t *evaluation) bool {
	own, all := t.plan.Own, t.call.Context.UserMessages
	if own == nil || !t.verdict.Tainted || t.view.Lost || t.plan.Initiator.Level > taint.Owner || t.view.Secrets != session.HoldsNone {
		return false
	}
	if t.verdict.Rule != "taint-escalation" && t.verdict.Rule != "taintPolicy" {
		return false
	}
	if len(all) == 0 || !all[len(all)-1].SenderIsOwner {
		return false
	}
	form := lineage.Form{Destinations: own.Destinations, Content: own.Content, Asked: own.Asked, AnyWords: own.AnyWords}
	return form.Fits(all[len(all)-1].Text, t.call.Params) && bearsNothing(w.hide.shown(t))
}
