package approval

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// departure is a request whose caller has gone, and that is still on its card.
type departure struct {
	card, digest, request string
	from, by              time.Time     // when it may be taken off; after that time it stays there
	gone                  chan struct{} // closed when it was taken off; nil: no one waits for that
}

// leaveQueue are those who wait for that. A few are taken off at a time: a pause
// or a stop sends thousands away at the same moment.
type leaveQueue struct {
	mu      sync.Mutex
	waiting []departure
	serving int
}

// leave is the end of a wait: the request is taken off the card, and that goes on
// without the caller where the store is slow.
func (w *Waiting) leave() Ruling {
	gone := make(chan struct{})
	w.vacate(0, gone)
	select {
	case <-gone:
	case <-time.After(askSlack):
	}
	return w.unanswered()
}

// unanswered is the ruling of a request without an answer. Without a ticket a coding agent shows no dialog of its own,
// in which a key would do where a passkey has to sign.
func (w *Waiting) unanswered() Ruling {
	if w.stepUp {
		return Ruling{Ref: codes.Ref(w.card), Card: w.card}
	}
	return Ruling{Ref: codes.Ref(w.card), Card: w.card, Ticket: w.asker.tickets.ticket(w.client, w.card, w.digest)}
}

// sentAway is the end of a wait that a pause or a stop ends: the request is taken
// off the card after all others of its crowd, if there is one, are answered.
func (w *Waiting) sentAway() Ruling {
	w.vacate(w.asker.waiters.patience(), nil)
	return w.unanswered()
}

// vacate takes a request off its card without its caller. Those that don't get to
// it in time stay there, and a yes that comes later is kept for them for a
// moment.
func (w *Waiting) vacate(after time.Duration, gone chan struct{}) {
	from := time.Now().Add(after)
	as, q := w.asker, &w.asker.leaving
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, departure{w.card, w.digest, w.request, from, from.Add(leaveDeadline), gone})
	if q.serving < leaveAtOnce {
		q.serving++
		as.run(func(context.Context) {
			for one, ok := q.next(); ok; one, ok = q.next() {
				<-time.After(time.Until(one.from))
				as.survive(func(context.Context) { as.depart(one) })
			}
		})
	}
}

// next is the first in the queue. Where it is empty, the goroutine that asks ends.
func (q *leaveQueue) next() (one departure, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting = nil
		q.serving--
		return departure{}, false
	}
	one, q.waiting = q.waiting[0], q.waiting[1:]
	return one, true
}

// depart takes the request off the card: nothing waits for it any more, and a
// yes that comes later is free for one identical call. The card stays.
func (as *asker) depart(one departure) {
	if one.gone != nil {
		defer close(one.gone)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(as.ctx), one.by)
	defer cancel()
	_, err := as.change(ctx, one.card, func(c *Card, _ time.Time) (Change, error) {
		q := c.question(one.digest)
		if q == nil || q.Used != "" || !q.leave(as.process.holder(one.request)) {
			return Change{}, errUnchanged
		}
		return Change{}, nil
	})
	if err != nil && !errors.Is(err, errUnchanged) && !errors.Is(err, ErrGone) {
		as.o.Log.DebugContext(ctx, "a request that ended is still on its card", "err", err)
	}
}
