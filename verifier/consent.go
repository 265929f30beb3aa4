package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// By… is what consented: a grant that covers the call, one for calls to the same destinations, or one that a person gave for
// those in every conversation of the agent.
const (
	ByGrant       = "grant"
	ByDestination = "destination"
	ByStanding    = "standing-consent"
)

// grantedBy is what a grant is called in the record.
func grantedBy(g *session.Grant) string {
	if g.IsDestination() {
		return ByDestination
	}
	return ByGrant
}

// consent finds what lets the call pass: the policy with the auditor's leave, a
// grant, the auditor where it may answer, or a person. It
// returns nil if something does. A person's yes counts when the call is judged
// again; only a restrict overturns it.
func (v *Verifier) consent(ctx context.Context, t *evaluation) *denial {
	if t.verdict.Mode == taint.Restrict {
		return t.restricted()
	}
	switch {
	case t.verdict.Mode == taint.Allow:
		t.by = t.verdict.Rule
		return v.auditing.audit(ctx, t)
	case t.verdict.Mode != taint.Confirm:
		return deny("mode", reasonFault)
	case t.person:
		return nil
	}
	ask := v.people.question(ctx, t)
	if g := v.people.granted(t, ask); g != nil {
		t.by, t.grant = grantedBy(g), g
		return nil
	}
	if g := v.people.standing(ctx, t, ask); g != nil {
		t.by, t.grant = ByStanding, g
		return v.auditing.audit(ctx, t)
	}
	if v.auditing.advise(ctx, t, ask) {
		t.by = byAuditor
		return nil
	}
	return v.people.ask(ctx, t, ask)
}
