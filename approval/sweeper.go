package approval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// sweeper does what time brings: the next stage of a card, its expiry, and what other processes left or changed.
type sweeper struct {
	*cardStore

	announcer *announcer
	pauses    *pauses
	follows   follows
}

// tend looks every so often for cards whose next stage is due and was not begun:
// the process that put them up may be gone.
func (sw *sweeper) tend(ctx context.Context) {
	tick := time.NewTicker(sw.o.Tend)
	defer tick.Stop()
	for {
		if sw.terms().escalates() {
			sw.tendOnce(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (sw *sweeper) tendOnce(ctx context.Context) {
	looking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	cards, now, err := sw.openCards(looking)
	if err != nil {
		return // the store's faults are told where a call meets them
	}
	for _, c := range cards {
		for stage, s := range c.stages() {
			if stage > c.Stage && !now.Before(s.From) && sw.announcer.serves(c, stage) {
				sw.announcer.escalate(ctx, c.ID, stage)
			}
		}
	}
}

// idleTends is how many times the desk need not look for what others have put up,
// while it knows of nothing.
const idleTends = 12

// adoptOrphans tells of the expiry of cards that another process has put up: it may be
// gone by then, and they would say for ever that they wait. It looks at once, and
// seldom as long as there are none.
func (sw *sweeper) adoptOrphans(ctx context.Context) {
	tick := time.NewTicker(sw.o.Tend)
	defer tick.Stop()
	var waiting []string
	for n := 0; ; n++ {
		if len(waiting) > 0 || n%idleTends == 0 {
			waiting = sw.inheritOnce(ctx, waiting)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// inheritOnce gives the cards of others that wait now; it is given those that
// waited before. Only what waits no more is read.
func (sw *sweeper) inheritOnce(ctx context.Context, before []string) (waiting []string) {
	looking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	open, err := sw.o.Store.Open(looking)
	if err != nil {
		return before // the store's faults are told where a call meets them
	}
	waiting = slices.DeleteFunc(open, sw.follows.has)
	still := make(map[string]bool, len(waiting))
	for _, id := range waiting {
		still[id] = true
	}
	for _, id := range before {
		if !still[id] {
			sw.runFor(ctx, func(ctx context.Context) { sw.lapse(ctx, id) })
		}
	}
	return waiting
}

// lapse tells of the expiry of a card that waits no more, where this process can
// reach a copy of it.
func (sw *sweeper) lapse(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, now, err := sw.load(ctx, id)
	if err == nil && slices.ContainsFunc(c.Copies, func(at Copy) bool { return sw.o.Channels[at.Channel] != nil }) {
		sw.expired(ctx, c, now)
	}
}

// hearWakes listens for answers that other processes took, and for pauses.
func (sw *sweeper) hearWakes(ctx context.Context) {
	woke := func(id string) {
		if id != PauseWake {
			sw.waiters.wake(id)
			return
		}
		if err := sw.pauses.hearPauses(ctx); err != nil && ctx.Err() == nil {
			sw.o.Log.WarnContext(ctx, "a pause changed and could not be read", "err", err)
		}
	}
	if err := sw.o.Store.Wakes(ctx, woke); err != nil && ctx.Err() == nil {
		sw.o.Log.Error("wake-ups from the store have stopped; answers are found by polling", "err", err)
	}
}

// poll rereads all cards that someone waits for, in one trip, and wakes whoever
// has not seen how they stand, and all when they expire: wake-ups get lost.
func (sw *sweeper) poll(ctx context.Context) {
	tick := time.NewTicker(sw.o.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			sw.pollOnce(ctx)
		}
	}
}

func (sw *sweeper) pollOnce(ctx context.Context) {
	ids := sw.waiters.ids()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sw.o.Poll)
	defer cancel()
	cards, now, err := sw.o.Store.Versions(ctx, ids...)
	if err != nil {
		return // the store's faults are told where a call meets them
	}
	for _, s := range cards {
		if now.Before(s.Until) {
			sw.waiters.wakeBehind(s.ID, s.Version)
		} else {
			sw.waiters.wake(s.ID)
		}
	}
}

// watchPauses looks every so often: a wake may be lost, and a pause that this
// process has not seen is one that could be taken away unnoticed.
func (sw *sweeper) watchPauses(ctx context.Context) {
	tick := time.NewTicker(pausesEvery)
	defer tick.Stop()
	for {
		if err := sw.pauses.hearPauses(ctx); err != nil && ctx.Err() == nil {
			sw.o.Log.WarnContext(ctx, "the pauses could not be read", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// expired records that nobody has answered, and shows it, in one process.
func (sw *sweeper) expired(ctx context.Context, c *Card, now time.Time) {
	left := slices.DeleteFunc(c.all(), func(q *Question) bool { return q.state(now) != Expired })
	if len(left) == 0 || !sw.tells(ctx, c.ID) {
		return
	}
	for _, q := range left {
		e := entryFor(audit.KindAnswer, c, q)
		e.Note = "expired without an answer"
		sw.note(ctx, e)
		sw.o.Observe(Event{Kind: EventExpired})
	}
	sw.announcer.showCopies(ctx, c)
}

// tells reports whether it is for this process to tell of a card's expiry: none
// has taken that on before.
func (sw *sweeper) tells(ctx context.Context, id string) bool {
	for range swapTries {
		c, _, err := sw.load(ctx, id)
		if err != nil || c.Ended {
			return false
		}
		c.Ended = true
		if err := sw.swap(ctx, c, Change{}); !errors.Is(err, ErrStale) {
			return err == nil
		}
	}
	return false
}
