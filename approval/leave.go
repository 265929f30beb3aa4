package approval

import (
	"context"
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// leave is the end of a wait: the request is taken off the card, and that goes on
// without the caller where the store is slow.
func (w *waiting) leave() Ruling {
	gone := make(chan struct{})
	w.asker.run(func(context.Context) {
		defer close(gone)
		w.depart()
	})
	select {
	case <-gone:
	case <-time.After(askSlack):
	}
	return w.unanswered()
}

// unanswered is the ruling of a request without an answer.
func (w *waiting) unanswered() Ruling {
	return Ruling{Ref: codes.Ref(w.card), Card: w.card, Ticket: w.asker.tickets.ticket(w.client, w.card, w.digest)}
}

// depart takes the request off the card: nothing waits for it any more, and a
// yes that comes later is free for one identical call. The card stays. Where that
// takes too long the request stays on it, and a later yes is kept for it for a moment.
func (w *waiting) depart() {
	as := w.asker
	ctx, cancel := context.WithTimeout(context.WithoutCancel(as.ctx), leaveDeadline)
	defer cancel()
	_, err := as.change(ctx, w.card, func(c *Card, _ time.Time) (Change, error) {
		q := c.question(w.digest)
		if q == nil || q.Used != "" || !q.leave(as.process.holder(w.request)) {
			return Change{}, errUnchanged
		}
		return Change{}, nil
	})
	if err != nil && !errors.Is(err, errUnchanged) && !errors.Is(err, ErrGone) {
		as.o.Log.DebugContext(ctx, "a request that ended is still on its card", "err", err)
	}
}
