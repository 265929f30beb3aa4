package verifier

import (
	"context"
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Store is where conversations live. Every method is atomic for one
// conversation, takes at most a few hundred milliseconds, and returns an error
// rather than a guess; the caller denies on any error. The clock is the store's
// own. storetest holds the suite that says what each method means.
type Store interface {
	// Admit lets a call enter its conversation in one trip: it finds replays,
	// ratchets the level, counts the step and the run, and commits an allow or a
	// refusal where the level alone decides. See session.Admission.
	Admit(ctx context.Context, a session.Admission) (session.View, error)

	// Settle commits an allow that needed more than the level. It holds only for
	// the version that was judged, and uses up the claimed yes in the same step.
	Settle(ctx context.Context, s session.Settlement) (session.Settled, error)

	// Deny keeps requests as denied, each on its own, whatever their conversations
	// have come to, and all of them in about the time of one. A request that has a
	// decision keeps it; of a conversation that is gone nothing is kept.
	Deny(ctx context.Context, d session.Denial) error

	// Hear takes in what an event tells: it finds replays, ratchets the level and
	// ends grants, all or nothing. It never makes a level better, and counts no
	// step. See session.Report.
	Hear(ctx context.Context, r session.Report) (session.Heard, error)

	// Link makes child share parent's state from now on, and answers with the
	// root that both share and with what child had been seen at before. By then
	// the root is at least as bad, and knows the secrets that child has read: no crash in between washes a child clean. A
	// child linked elsewhere already stays there; the answer then names that
	// root.
	Link(ctx context.Context, child, parent session.Conversation) (root session.Conversation, before taint.Level, err error)

	// Raise makes a conversation at least this bad for every session id, known
	// or not yet known.
	Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error

	// Worst is the worst level a conversation has been seen at. One that was
	// never seen, or that the store has lost, is Untrusted.
	Worst(ctx context.Context, c session.Conversation) (taint.Level, error)

	// Expose notes that a conversation knows a secret, for every session id, known or
	// not yet known. Exposed is the first that any of its session ids has read; of a
	// conversation that was never seen nothing is known.
	Expose(ctx context.Context, c session.Conversation, secret string) error
	Exposed(ctx context.Context, c session.Conversation) (string, error)

	// Reset is that of approval.Store.
	Reset(ctx context.Context, ref string) (session.Conversation, error)

	// Note adds to lists, each on its own. Notes reads one, oldest first; a list
	// without entries, or whose entries have expired, is empty.
	Note(ctx context.Context, notes ...session.Note) error
	Notes(ctx context.Context, list string) ([][]byte, error)

	// AutomationFloor is the best level an agent's automations may start at.
	AutomationFloor(ctx context.Context, client, agent string) (taint.Level, error)

	// Influences is that of approval.Store.
	Influences(ctx context.Context, ref string) (session.Account, error)

	// DropSource forgets one of them by its number, unless it had a say at another
	// time than the last one that the caller knows. No level changes by that.
	DropSource(ctx context.Context, c session.Conversation, number int64, last time.Time) error

	// RaiseAutomation makes that floor at least this bad.
	RaiseAutomation(ctx context.Context, client, agent string, to taint.Level) error
}

// storeFault turns a store's error into a deny, and tells the log which.
func (o *Options) storeFault(ctx context.Context, during string, err error) *denial {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return deny(callerGone, reasonFault)
	case errors.Is(err, session.ErrForged):
		o.Log.ErrorContext(ctx, "the store holds something that is not ours", "during", during, "err", err)
		return deny("forged", reasonFault)
	}
	o.Log.ErrorContext(ctx, "the store failed", "during", during, "err", err)
	return deny(faultStore, reasonStore)
}

// budget is how long the store may take over an allow: for one that was waited
// for, no longer than its caller was promised.
func (o *Options) budget(t *evaluation) time.Duration {
	if !t.held {
		return o.StoreWait
	}
	return min(o.StoreWait, max(leastTrip, t.left()))
}
