package verifier

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
)

const (
	answerBudget = 400 * time.Millisecond // beyond the hold: then the answer leaves, whatever is still to be kept of it
	leastTrip    = 50 * time.Millisecond
	turnPatience = 5 * time.Second
	unhurried    = turnPatience + 2*storeBudget // more than a deny takes, whatever is slow
	endAtOnce    = 64 // calls that were held
)

// denyInTime is deny, of which a caller who was held hears at once when its time
// is up: a store or a record that is slow then is waited for without it. One who
// could be held for longer is not in a hurry.
func (v *Verifier) denyInTime(ctx context.Context, t *trace, n *no) Decision {
	switch {
	case !t.held:
		return v.deny(ctx, t, n)
	case t.left() > unhurried:
		defer v.inTurn()()
		return v.deny(ctx, t, n)
	}
	said := Decision{Reason: clip(n.reason), Ref: t.ruling.Ref}
	done := make(chan Decision, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				v.o.Log.ErrorContext(ctx, "a deny ended in a panic", "panic", crash.Recovered(p))
				done <- said
			}
		}()
		defer v.inTurn()()
		done <- v.deny(context.WithoutCancel(ctx), t, n)
	}()
	late := time.NewTimer(max(leastTrip, t.left()))
	defer late.Stop()
	select {
	case d := <-done:
		return d
	case <-late.C:
		return said
	}
}

// inTurn lets some calls end at a time, and returns what lets the next one: a
// pause or a stop ends thousands of waits at once, and store and record would not
// take them all in time. Where they hang nobody waits for long, and all go on.
func (v *Verifier) inTurn() (done func()) {
	enough := time.NewTimer(turnPatience)
	defer enough.Stop()
	select {
	case v.ending <- struct{}{}:
		return func() { <-v.ending }
	case <-enough.C:
		return func() {}
	}
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
