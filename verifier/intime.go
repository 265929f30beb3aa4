package verifier

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
)

const (
	answerBudget = 300 * time.Millisecond // beyond the hold: then the answer leaves, whatever is still to be kept of it
	leastTrip    = 50 * time.Millisecond
	stopPatience = 2 * time.Second // before the gateway is gone, and all connections with it
	endAtOnce    = 64              // calls that were held
)

// denyInTime is deny, of which a caller who was held hears at once when its time
// is up: a store or a record that is slow then is waited for without it.
//
// Some are denied at a time: a pause or a stop ends thousands of waits at once,
// and store and record would not take them all in time. Where they hang, a stop
// does not wait for them: a caller that is cut off decides for itself.
func (v *Verifier) denyInTime(ctx context.Context, t *trace, n *no) Decision {
	if !t.held {
		return v.deny(ctx, t, n)
	}
	said, done := Decision{Reason: clip(n.reason), Ref: t.ruling.Ref}, make(chan Decision, 1)
	left := max(leastTrip, t.left())
	if t.ruling.Stopped {
		left = min(left, stopPatience)
	}
	late := time.NewTimer(left)
	defer late.Stop()
	select {
	case v.ending <- struct{}{}:
		go v.end(ctx, t, n, done)
	case <-late.C:
		go func() {
			v.ending <- struct{}{}
			v.end(ctx, t, n, done)
		}()
		return said
	}
	select {
	case d := <-done:
		return d
	case <-late.C:
		return said
	}
}

// end denies a call in its turn, and lets the next one. It is nobody's stack but
// its own: that of a call that is held is small, and stays so.
func (v *Verifier) end(ctx context.Context, t *trace, n *no, done chan<- Decision) {
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "a deny ended in a panic", "panic", crash.Recovered(p))
			done <- Decision{Reason: clip(n.reason), Ref: t.ruling.Ref}
		}
		<-v.ending
	}()
	done <- v.deny(context.WithoutCancel(ctx), t, n)
}

// left is what is left of a call's time: its hold, and a moment to end it.
func (t *trace) left() time.Duration { return t.hold() + answerBudget - time.Since(t.started) }

// budget is how long the store may take over an allow: for one that was waited
// for, no longer than its caller was promised.
func (t *trace) budget() time.Duration {
	if !t.held {
		return storeBudget
	}
	return min(storeBudget, max(leastTrip, t.left()))
}
