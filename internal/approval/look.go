package approval

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// cardWake and pauseWake are what the store says has changed.
const (
	cardWake  = "card "
	pauseWake = "pause"
)

// listenToStore hears of answers that any process took, and of pauses. It is a hint: some may be missed.
func (sh *shows) listenToStore(ctx context.Context, pauses *Pauses) {
	err := sh.o.Store.Watch(ctx, func(what string) {
		if id, ok := strings.CutPrefix(what, cardWake); ok {
			sh.waiters.wake(id)
		} else if what == pauseWake {
			pauses.hear(ctx)
		}
	})
	if err != nil && ctx.Err() == nil {
		sh.o.Log.Error("wake-ups from the store have stopped; answers are found by polling", "err", err)
	}
}

// idleLooks is how many looks are left out while nothing waits here: then there are only cards that others left
// behind.
const idleLooks = 10

// look looks at what waits, every so often: it wakes those whose wake-up was lost, ends the waits of paused agents,
// and says of cards that they have expired, also of those that another process has put up and that is gone. When the
// desk stops, the cards that it has put up say so.
func (sh *shows) look(ctx context.Context, pauses *Pauses) {
	tick := time.NewTicker(sh.o.Poll)
	defer tick.Stop()
	before, idle := map[string]time.Time{}, idleLooks
	for {
		select {
		case <-ctx.Done():
			sh.sayStopped()
			return
		case <-tick.C:
		}
		if idle++; idle < idleLooks && len(before) == 0 && sh.waiters.idle() {
			continue
		}
		idle = 0
		sh.survive(func(ctx context.Context) { before = sh.lookOnce(ctx, pauses, before) })
	}
}

// lookOnce returns the open cards, with the time when each ends.
func (sh *shows) lookOnce(ctx context.Context, pauses *Pauses, before map[string]time.Time) map[string]time.Time {
	ctx, cancel := context.WithTimeout(ctx, sh.o.Poll)
	defer cancel()
	pauses.hear(ctx)
	listed, now, err := sh.o.Store.Open(ctx)
	if err != nil {
		return before // the store's faults are reported where a call meets them
	}
	open := make(map[string]time.Time, len(listed))
	for _, o := range listed {
		before[o.ID] = o.Until
		if now.Before(o.Until) {
			open[o.ID] = o.Until
		}
	}
	for id, until := range before {
		if !now.Before(until) {
			sh.run(func(ctx context.Context) { sh.expire(ctx, id) })
		}
	}
	sh.waiters.wakeClosed(open)
	return open
}

// expire records that no one has answered a card, and shows it, in one process.
func (sh *shows) expire(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
	defer cancel()
	c, now, err := sh.load(ctx, id)
	if err != nil || c.State != Open || c.at(now) != Expired {
		return
	}
	c, err = sh.change(ctx, c, func(_ *store.Tx, c *Card) error {
		if c.State != Open {
			return errUnchanged
		}
		c.settle(Expired, c.Ask.Until.Add(noHolds))
		return nil
	})
	if err != nil {
		return
	}
	e := entryFor(record.KindAnswer, c)
	e.Note = "expired without an answer"
	sh.note(ctx, e)
	sh.o.Observe(Event{Kind: EventExpired})
	sh.showCopies(ctx, c)
}

// sayStopped tells every copy of the open cards that this process has put up that it stops before their time is up.
func (sh *shows) sayStopped() {
	if len(sh.o.Channels) == 0 {
		return
	}
	for _, id := range sh.waiters.owned() {
		sh.run(func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
			defer cancel()
			if c, now, err := sh.load(ctx, id); err == nil && c.at(now) == Open {
				sh.showCopies(ctx, c)
			}
		})
	}
}
