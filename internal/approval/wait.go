package approval

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// waiters are those who wait in this process, by the card they wait for, or by the hash of the conversation in which
// they wait for a place.
type waiters struct {
	mu     sync.Mutex
	byCard map[string][]*waiter
}

// waiter is someone who waits.
type waiter struct {
	request *Request // nil: a caller that asks about late answers
	woken   chan struct{}
	paused  atomic.Bool          // the owner paused the agent
	edit    atomic.Pointer[Edit] // what a person made of the call
}

func newWaiter(r *Request) *waiter { return &waiter{request: r, woken: make(chan struct{}, 1)} }

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // a wake is already waiting to be seen
	}
}

// add has someone wait for a card until the returned function is called.
func (w *waiters) add(one *waiter, id string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byCard[id] = append(w.byCard[id], one)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.byCard[id] = slices.DeleteFunc(w.byCard[id], func(other *waiter) bool { return other == one })
		if len(w.byCard[id]) == 0 {
			delete(w.byCard, id)
		}
	}
}

// ending is why a wait is over.
type ending uint8

const (
	isDone ending = iota
	isOver        // the caller can't wait longer
	isLeft        // the caller has gone
	isPaused
	isStopped // the desk stops
)

// await waits until check says that it is done. It checks again whenever the waiter is woken.
func (sh *shows) await(ctx context.Context, w *waiter, over <-chan time.Time,
	check func() (done bool, err error)) (ending, error) {
	for {
		if done, err := check(); done || err != nil {
			return isDone, err
		}
		select {
		case <-w.woken:
			if w.paused.Load() {
				return isPaused, nil
			}
		case <-over:
			return isOver, nil
		case <-ctx.Done():
			return isLeft, ctx.Err()
		case <-sh.ctx.Done():
			return isStopped, nil
		}
	}
}

// held are the requests that a card asks about and that wait here, the earliest first.
func (w *waiters) held(id string) []*waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.byCard[id]), func(one *waiter) bool { return one.request == nil })
}

// ids are the cards for which someone waits.
func (w *waiters) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byCard))
}

// wake wakes those who wait for a card that has closed.
func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.byCard[id] {
		one.wake()
	}
}

// pause ends the waits of the agents that a pause binds.
func (w *waiters) pause(all []store.Pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, held := range w.byCard {
		for _, one := range held {
			if one.request != nil && binds(all, one.request.Ask.Agent) {
				one.paused.Store(true)
				one.wake()
			}
		}
	}
}

// watch hears from the store of cards that any process has closed, and of pauses. It is a hint: look finds what it
// misses.
func (sh *shows) watch() {
	err := sh.o.Store.Watch(sh.ctx, func(what string) {
		if id, ok := strings.CutPrefix(what, "card "); ok {
			sh.waiters.wake(id)
		} else if what == "pause" {
			sh.pauseWaits(sh.ctx)
		}
	})
	if err != nil && sh.ctx.Err() == nil {
		sh.o.Log.Error("wake-ups from the store have stopped; answers are found by polling", "err", err)
	}
}

// pauseWaits ends the waits of paused agents.
func (sh *shows) pauseWaits(ctx context.Context) {
	all, err := sh.o.Store.Pauses(ctx)
	if err != nil && ctx.Err() == nil {
		sh.o.Log.WarnContext(ctx, "the pauses could not be read", "err", err)
	}
	if len(all) > 0 {
		sh.waiters.pause(all)
	}
}

// look looks at what waits, every so often: it wakes those whose wake-up was lost, ends the waits of paused agents,
// and says of cards that they have expired, also of those that another process has put up and that is gone. When the
// desk stops, the cards for which calls wait here say so.
func (sh *shows) look() {
	tick := time.NewTicker(sh.o.Poll)
	defer tick.Stop()
	open := map[string]time.Time{}
	for {
		select {
		case <-tick.C:
			sh.survive(func() { open = sh.lookOnce(open) })
		case <-sh.ctx.Done():
			if len(sh.o.Channels) == 0 { // nothing shows a card
				return
			}
			for _, id := range sh.waiters.ids() {
				sh.run(sh.ctx, func(ctx context.Context) {
					c, now, err := sh.load(ctx, id)
					if err == nil && c.at(now) == Open && len(sh.waiters.held(id)) > 0 {
						sh.closed(ctx, c)
					}
				})
			}
			return
		}
	}
}

// lookOnce returns the open cards, with the time when each ends.
func (sh *shows) lookOnce(before map[string]time.Time) map[string]time.Time {
	sh.pauseWaits(sh.ctx)
	listed, now, err := sh.o.Store.Open(sh.ctx)
	if err != nil {
		return before // the store's faults are reported where a call meets them
	}
	open := make(map[string]time.Time, len(listed))
	for _, o := range listed {
		if before[o.ID] = o.Until; now.Before(o.Until) {
			open[o.ID] = o.Until
		}
	}
	for id, until := range before {
		if !now.Before(until) {
			sh.run(sh.ctx, func(ctx context.Context) { sh.expire(ctx, id) })
		}
	}
	for _, id := range sh.waiters.ids() {
		if _, waits := open[id]; !waits {
			sh.waiters.wake(id)
		}
	}
	return open
}

// expire records that no one has answered a card, and shows it, in one process.
func (sh *shows) expire(ctx context.Context, id string) {
	c, _, err := sh.load(ctx, id)
	if err == nil {
		c, err = sh.change(ctx, c, func(t *store.Tx, c *Card) bool {
			expired := c.State == Open && c.at(t.Now) == Expired
			if expired {
				c.settle(Expired, c.Ask.Until.Add(noHolds))
			}
			return expired
		})
	}
	if c == nil || err != nil { // another process was first, or finds it at its next look
		return
	}
	e := entryFor(record.KindAnswer, c)
	e.Note = "expired without an answer"
	sh.note(ctx, e)
	sh.o.Observe(Event{Kind: EventExpired})
	sh.closed(ctx, c)
}
