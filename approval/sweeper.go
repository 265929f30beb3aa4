package approval

import (
	"context"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
)

// sweeper does what time brings: the expiry of a card, and what other processes left or changed.
type sweeper struct {
	*cardStore

	announcer *announcer
	pauses    *Pauses
	follows   follows
	orphans   []string // the cards of other processes that waited at the last look
	looks     int
}

// chore is one thing that the sweep loop does every so often.
type chore struct {
	every time.Duration
	next  time.Time
	do    func(ctx context.Context)
}

// sweep does what is due, one chore after the other, until the desk stops. Each takes no longer than its look at the store may: what takes
// longer gets a goroutine of its own.
func (sw *sweeper) sweep(ctx context.Context) {
	defer sw.onStop()
	chores := []*chore{
		{every: sw.o.Poll, next: time.Now().Add(sw.o.Poll), do: sw.poll},
		{every: pausesEvery, do: sw.readPauses},
		{every: sw.o.SweepEvery, do: sw.adoptOrphans},
	}
	for ctx.Err() == nil {
		next := time.Now().Add(pausesEvery)
		for _, c := range chores {
			if !time.Now().Before(c.next) {
				sw.survive(c.do)
				c.next = time.Now().Add(c.every)
			}
			if c.next.Before(next) {
				next = c.next
			}
		}
		sleep(ctx, time.Until(next))
	}
}

// idleLooks is how many times the desk need not look for what others have put up,
// while it knows of nothing.
const idleLooks = 12

// adoptOrphans tells of the expiry of cards that another process has put up: it may be
// gone by then, and they would say for ever that they wait. It looks seldom as long as
// there are none, and reads only those that wait no more.
func (sw *sweeper) adoptOrphans(ctx context.Context) {
	sw.looks++
	if len(sw.orphans) == 0 && sw.looks%idleLooks != 1 {
		return
	}
	looking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	open, err := sw.o.Store.Open(looking)
	if err != nil {
		return // the store's faults are reported where a call meets them
	}
	before := sw.orphans
	sw.orphans = slices.DeleteFunc(open, sw.follows.has)
	still := make(map[string]bool, len(sw.orphans))
	for _, id := range sw.orphans {
		still[id] = true
	}
	for _, id := range before {
		if !still[id] {
			sw.run(func(ctx context.Context) { sw.lapse(ctx, id) })
		}
	}
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
		if id == PauseWake {
			sw.readPauses(ctx)
		} else {
			sw.waiters.wake(id)
		}
	}
	if err := sw.o.Store.Wakes(ctx, woke); err != nil && ctx.Err() == nil {
		sw.o.Log.Error("wake-ups from the store have stopped; answers are found by polling", "err", err)
	}
}

// readPauses reads the pauses anew: a wake may be lost, and a pause that this
// process has not seen is one that could be taken away unnoticed.
func (sw *sweeper) readPauses(ctx context.Context) {
	if err := sw.pauses.hearPauses(ctx); err != nil && ctx.Err() == nil {
		sw.o.Log.WarnContext(ctx, "the pauses could not be read", "err", err)
	}
}

// poll rereads all cards that someone waits for, in one trip, and wakes those who
// have not seen their present state, and all when they expire: wake-ups get lost.
func (sw *sweeper) poll(ctx context.Context) {
	ids := sw.waiters.ids()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sw.o.Poll)
	defer cancel()
	cards, now, err := sw.o.Store.Versions(ctx, ids...)
	if err != nil {
		return // the store's faults are reported where a call meets them
	}
	for _, s := range cards {
		if now.Before(s.Until) {
			sw.waiters.wakeBehind(s.ID, s.Version)
		} else {
			sw.waiters.wake(s.ID)
		}
	}
}

// expired records that no one has answered, and shows it, in one process.
func (sw *sweeper) expired(ctx context.Context, c *Card, now time.Time) {
	left := slices.DeleteFunc(c.all(), func(q *Question) bool { return q.state(now) != Expired })
	if len(left) == 0 {
		return
	}
	_, err := sw.change(ctx, c.ID, func(c *Card, _ time.Time) (Change, error) {
		if c.Ended { // another process tells of it
			return Change{}, errUnchanged
		}
		c.Ended = true
		return Change{}, nil
	})
	if err != nil {
		return
	}
	for _, q := range left {
		e := entryFor(record.KindAnswer, c, q)
		e.Note = "expired without an answer"
		sw.note(ctx, e)
		sw.o.Observe(Event{Kind: EventExpired})
	}
	sw.announcer.showCopies(ctx, c)
}
