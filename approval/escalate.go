package approval

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// escalate puts a card that nobody has answered where its next stage says, once,
// whichever process is first; the copies that are out stay. Where no channel of
// the stage works the one after it begins at once. It reports whether the card
// still waits.
func (d *Desk) escalate(ctx context.Context, id string, stage int) bool {
	c, begun := d.begin(ctx, id, stage)
	switch {
	case c == nil:
		return false
	case !begun:
		return true
	}
	names, _ := d.channels(c, stage)
	d.o.Observe(Event{Kind: EventEscalated})
	d.note(ctx, audit.Entry{Kind: audit.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: "escalated to " + strings.Join(names, ", ")})
	if !d.deliver(ctx, c, stage) && stage+1 < len(c.stages()) {
		return d.escalate(ctx, id, stage+1)
	}
	return true
}

// begin marks a stage of a card as begun, if the card still waits and nobody has
// begun it. The card is nil if it does not wait any more.
func (d *Desk) begin(ctx context.Context, id string, stage int) (c *Card, begun bool) {
	for range swapTries {
		c, now, err := d.load(ctx, id)
		if err != nil {
			d.o.Log.ErrorContext(ctx, "a question could not be put to the next in line", "card", id, "err", err)
			return &Card{}, false // whoever looks next may have more luck
		}
		if c.closed(now) {
			return nil, false
		}
		if c.Stage >= stage {
			return c, false
		}
		c.Stage = stage
		switch err := d.swap(ctx, c, Change{NotAfter: c.Until()}); {
		case err == nil:
			return c, true
		case !errors.Is(err, ErrStale):
			return c, false
		}
	}
	return &Card{}, false
}

// tend looks every so often for cards whose next stage is due and was not begun:
// the process that put them up may be gone.
func (d *Desk) tend(ctx context.Context) {
	tick := time.NewTicker(d.o.Tend)
	defer tick.Stop()
	for {
		if d.terms().escalates() {
			d.tendOnce(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (d *Desk) tendOnce(ctx context.Context) {
	looking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	cards, now, err := d.openCards(looking)
	if err != nil {
		return // the store's faults are told where a call meets them
	}
	for _, c := range cards {
		for stage, s := range c.stages() {
			if stage > c.Stage && !now.Before(s.From) && d.serves(c, stage) {
				d.escalate(ctx, c.ID, stage)
			}
		}
	}
}

// serves reports whether this process has any way to put a card where a stage
// says.
func (d *Desk) serves(c *Card, stage int) bool {
	names, inbox := d.channels(c, stage)
	for _, name := range names {
		if d.o.Channels[name] != nil {
			return true
		}
	}
	return inbox
}
