package approval

import (
	"context"

	"github.com/openclaw-verifier/verifier/session"
)

// Give gives a standing consent as a tap on a card does.
func (cn *Consents) Give(ctx context.Context, a Answer, person string, g session.Grant, days int) (Outcome, error) {
	return cn.give(ctx, a, person, g, days)
}
