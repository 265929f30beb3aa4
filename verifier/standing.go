package verifier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// mostCommand is how long a call may be that a standing consent names, in bytes. It is kept for days, and read by
// people.
const mostCommand = 1000

// alwaysOf is what a standing consent has to name to cover the call: its destinations and its directory, or the very
// command. It is empty where none can cover it. None covers more than a call that only waits because outside content
// came in, of which all is visible and which bears no mark of a risk; nor anything in a conversation that may hold a
// secret, or in which someone else than the owner speaks. What we don't know counts as marked. The card offers one by
// the same answer, so that what is given is what is covered.
func alwaysOf(t *evaluation, a *approval.Ask) string {
	if !t.plan.Owners(t.call) || !a.Lasting || a.Agent == "" || a.Marked() || a.Hidden > 0 || a.HeldOnly ||
		!t.verdict.LevelAlone ||
		t.view.Lost ||
		t.view.Secrets != session.HoldsNone {
		return ""
	}
	if !a.Shell {
		// people have to be able to read where it would hold
		if a.Like == "" || a.Directory != t.call.Context.Directory {
			return ""
		}
		return t.like().In(t.call.Context.Directory)
	}
	// what runs files of the workspace does something else once they change
	if t.plan.Line.Effect != command.Look || len(a.Shown) > mostCommand {
		return ""
	}
	return session.ExactlyShown(sumAnywhere(t.call), string(a.Shown))
}

// sumAnywhere is what tells the call from others in any conversation: its arguments, and the directory where the agent
// names one.
func sumAnywhere(c *toolcall.Call) string {
	sum := sha256.New()
	for _, part := range []string{string(c.Params), c.Context.Directory} {
		fmt.Fprintf(sum, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// standing finds a standing consent that covers the call.
func (p *people) standing(ctx context.Context, t *evaluation, a *approval.Ask) *session.Grant {
	// people were asked about this very call, and may be yet
	if a.Always == "" || t.view.Waiting != "" && !p.o.Desk.UsedUp(ctx, t.view.Waiting, t.sum()) {
		return nil
	}
	given, err := p.o.Consents.Active(ctx)
	if err != nil {
		p.o.Log.WarnContext(
			ctx,
			"standing consents could not be read: the call is asked about",
			"request",
			p.hide.request(t.call),
			"err",
			err,
		)
		return nil
	}
	for i := range given {
		g := &given[i]
		isOf := g.Conversation.Client == t.conv.Client && (g.Conversation.Key == "" || g.Conversation == t.conv) &&
			g.Agent == t.call.Agent() &&
			g.Tool == t.call.Tool
		if isOf && g.Like == session.StandingLike(a.Always) && g.Covers(t.view.Level, t.now()) &&
			p.o.Grants.Covers(g.Givers(), *a) {
			return g
		}
	}
	return nil
}
