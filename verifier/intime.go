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

// ending is a call that was held and is to be denied. done has room for one
// decision.
type ending struct {
	ctx  context.Context //nolint:containedctx // of the call, for the log
	t    *evaluation
	no   *denial
	by   time.Time // when its caller hears, whatever is still to be kept of it
	done chan Decision
}

// answer tells the caller, once.
func (e *ending) answer(d Decision) {
	select {
	case e.done <- d:
	default: // it was told in time, and without this
	}
}

// denyInTime is deny, of which a caller who was held hears at once when its time
// is up: a store or a record that is slow then is waited for without it. Where
// they hang, a stop does not wait for them: a caller that is cut off decides for
// itself.
//
// It is denied on nobody's stack but its own: that of a call that is held is
// small, and stays so.
func (v *Verifier) denyInTime(ctx context.Context, t *evaluation, n *denial) Decision {
	if !t.held {
		return v.deny(ctx, t, n)
	}
	left := max(leastTrip, t.left())
	if t.ruling.Stopped {
		left = min(left, stopPatience)
	}
	e := &ending{ctx: context.WithoutCancel(ctx), t: t, no: n, by: time.Now().Add(left), done: make(chan Decision, 1)}
	if t.ruling.Stopped || t.ruling.Paused {
		return v.denyInCrowd(e)
	}
	go v.end(e)
	late := time.NewTimer(left)
	defer late.Stop()
	select {
	case d := <-e.done:
		return d
	case <-late.C:
		return n.decision(t)
	}
}

// end denies a call in its turn, and lets the next one.
func (v *Verifier) end(e *ending) {
	v.ending <- struct{}{}
	defer func() { <-v.ending }()
	defer v.saveEnding(e)
	e.answer(v.deny(e.ctx, e.t, e.no))
}

// saveEnding makes a deny of a panic.
func (v *Verifier) saveEnding(e *ending) {
	if p := recover(); p != nil {
		v.o.Log.ErrorContext(e.ctx, "a deny ended in a panic", "panic", crash.Recovered(p))
		e.answer(e.no.decision(e.t))
	}
}

// left is what is left of a call's time: its hold, and a moment to end it.
func (t *evaluation) left() time.Duration { return t.hold() + answerBudget - time.Since(t.started) }

// budget is how long the store may take over an allow: for one that was waited
// for, no longer than its caller was promised.
func (v *Verifier) budget(t *evaluation) time.Duration {
	if !t.held {
		return v.o.StoreWait
	}
	return min(v.o.StoreWait, max(leastTrip, t.left()))
}
