package verifier

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/session"
)

const (
	answerBudget = 300 * time.Millisecond // beyond the hold: then the answer leaves, whatever is still to be kept of it
	leastTrip    = 50 * time.Millisecond
	stopPatience = 2 * time.Second // before the gateway is gone, and all connections with it
)

// denyInTime is deny, of which a caller who was held hears at once when its time
// is up: a store or a record that is slow then is waited for without it. Where
// they hang, a stop does not wait for them: a caller that is cut off decides for
// itself.
func (v *Verifier) denyInTime(ctx context.Context, t *evaluation, n *denial) Decision {
	if !t.held {
		return v.deny(ctx, t, n)
	}
	left := max(leastTrip, t.left())
	if t.ruling.Stopped {
		left = min(left, stopPatience)
	}
	no := n.decision(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				v.o.Log.ErrorContext(ctx, "a deny ended in a panic", "panic", crash.Recovered(p))
			}
		}()
		v.deny(context.WithoutCancel(ctx), t, n)
	}()
	select {
	case <-done:
	case <-time.After(left):
	}
	return no
}

// left is what is left of a call's time: its hold, and a moment to end it.
func (t *evaluation) left() time.Duration { return t.hold() + answerBudget - time.Since(t.started) }

// deny settles a call that was held as denied, so that the same request gets
// the same answer, and refuses it. A store that has just failed is not asked
// again: the caller waits. On a connection that is gone no answer arrives:
// the request stays open for the client that sends it again.
func (v *Verifier) deny(ctx context.Context, t *evaluation, n *denial) Decision {
	if n.kind != faultStore && n.kind != callerGone {
		v.keepDenied(ctx, t)
	}
	return v.recorder.refuse(ctx, t, n)
}

// keepDenied has the store keep a call as denied. One that it does not keep is recorded all the same.
func (v *Verifier) keepDenied(ctx context.Context, t *evaluation) {
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "keeping a deny ended in a panic; the same request may be asked again", "panic", crash.Recovered(p))
		}
	}()
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.o.StoreWait)
	defer cancel()
	no := session.Denial{Conversation: t.conv, RequestID: t.call.RequestID, Body: t.call.Body, Keep: t.settings.Keep}
	if err := v.o.Store.Deny(wait, no); err != nil {
		v.o.Log.WarnContext(ctx, "a deny could not be kept; the same request may be asked again",
			"request", v.hide.request(t.call), "err", err)
	}
}
