package approval

import (
	"context"
	"slices"
	"time"
)

// idleTends is how many times the desk need not look for what others have put up,
// while it knows of nothing.
const idleTends = 12

// adoptOrphans tells of the expiry of cards that another process has put up: it may be
// gone by then, and they would say for ever that they wait. It looks at once, and
// seldom as long as there are none.
func (d *Desk) adoptOrphans(ctx context.Context) {
	tick := time.NewTicker(d.o.Tend)
	defer tick.Stop()
	var waiting []string
	for n := 0; ; n++ {
		if len(waiting) > 0 || n%idleTends == 0 {
			waiting = d.inheritOnce(ctx, waiting)
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
func (d *Desk) inheritOnce(ctx context.Context, before []string) (waiting []string) {
	looking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	open, err := d.o.Store.Open(looking)
	if err != nil {
		return before // the store's faults are told where a call meets them
	}
	waiting = slices.DeleteFunc(open, d.follows.has)
	still := make(map[string]bool, len(waiting))
	for _, id := range waiting {
		still[id] = true
	}
	for _, id := range before {
		if !still[id] {
			d.runFor(ctx, func(ctx context.Context) { d.lapse(ctx, id) })
		}
	}
	return waiting
}

// lapse tells of the expiry of a card that waits no more, where this process can
// reach a copy of it.
func (d *Desk) lapse(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, now, err := d.load(ctx, id)
	if err == nil && slices.ContainsFunc(c.Copies, func(at Copy) bool { return d.o.Channels[at.Channel] != nil }) {
		d.expired(ctx, c, now)
	}
}
