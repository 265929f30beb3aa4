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

// endings denies calls that were held: each on its own, or in groups where a pause or a stop ends many. A caller hears in time, whatever is
// still to be kept of its deny.
type endings struct {
	o        *Options
	hide     *hiding
	recorder *recorder
	ending   chan struct{} // a place for each call that was held and is being denied
	bulkDeny bulkDeny
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
// It is denied on a stack of its own: that of a call that is held is small, and
// stays so.
func (en *endings) denyInTime(ctx context.Context, t *evaluation, n *denial) Decision {
	if !t.held {
		return en.deny(ctx, t, n)
	}
	left := max(leastTrip, t.left())
	if t.ruling.Stopped {
		left = min(left, stopPatience)
	}
	e := &ending{ctx: context.WithoutCancel(ctx), t: t, no: n, by: time.Now().Add(left), done: make(chan Decision, 1)}
	if t.ruling.Stopped || t.ruling.Paused {
		return en.denyInCrowd(e)
	}
	go en.end(e)
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
func (en *endings) end(e *ending) {
	en.ending <- struct{}{}
	defer func() { <-en.ending }()
	defer en.save(e)
	e.answer(en.deny(e.ctx, e.t, e.no))
}

// save makes a deny of a panic.
func (en *endings) save(e *ending) {
	if p := recover(); p != nil {
		en.o.Log.ErrorContext(e.ctx, "a deny ended in a panic", "panic", crash.Recovered(p))
		e.answer(e.no.decision(e.t))
	}
}

// left is what is left of a call's time: its hold, and a moment to end it.
func (t *evaluation) left() time.Duration { return t.hold() + answerBudget - time.Since(t.started) }

// deny settles a call that was held as denied, so that the same request gets
// the same answer, and refuses it. A store that has just failed is not asked
// again: the caller waits. On a connection that is gone no answer arrives:
// the request stays open for the client that sends it again.
func (en *endings) deny(ctx context.Context, t *evaluation, n *denial) Decision {
	if n.kind != faultStore && n.kind != callerGone {
		en.keep([]*ending{{ctx: ctx, t: t, no: n}})
	}
	return en.recorder.refuse(ctx, t, n)
}

// keep has the store keep calls as denied. Those that it does not keep are
// recorded all the same.
func (en *endings) keep(group []*ending) {
	defer func() {
		if p := recover(); p != nil {
			en.o.Log.Error("keeping a deny ended in a panic; the same request may be asked again", "panic", crash.Recovered(p))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), en.o.StoreWait)
	defer cancel()
	denials := make([]session.Denial, len(group))
	for i, e := range group {
		denials[i] = session.Denial{Conversation: e.t.conv, RequestID: e.t.call.RequestID, Body: e.t.call.Body, Keep: e.t.settings.Keep}
	}
	if err := en.o.Store.Deny(ctx, denials...); err != nil {
		for _, e := range group {
			en.o.Log.WarnContext(e.ctx, "a deny could not be kept; the same request may be asked again", "request", en.hide.request(e.t.call), "err", err)
		}
	}
}
