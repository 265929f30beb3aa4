package approval

import (
	"context"
	"sync"
	"time"
)

// showCopies shows where a card stands wherever it is shown, on all channels at
// once: one that is down holds no other up. It returns when all have tried.
func (d *Desk) showCopies(ctx context.Context, c *Card) {
	var all sync.WaitGroup
	for _, copied := range c.Copies {
		all.Add(1)
		d.runFor(ctx, func(ctx context.Context) {
			defer all.Done()
			d.showCopy(ctx, c.ID, copied)
		})
	}
	all.Wait()
}

// showCopy brings one copy up to date. The copies of a card take turns and each
// reads the card anew, so that what is shown last is what is true.
func (d *Desk) showCopy(ctx context.Context, id string, copied Copy) {
	ch := d.o.Channels[copied.Channel]
	if ch == nil {
		return // another process has that channel
	}
	defer d.turns.take(copied)()
	ctx, cancel := d.patience(ctx)
	defer cancel()
	c, now, err := d.load(ctx, id)
	if err != nil {
		d.o.Log.ErrorContext(ctx, "a card could not be read again; its buttons answer with the truth", "channel", copied.Channel, "card", id, "err", err)
		return
	}
	shown := c.status(now)
	if shown.State == Open && d.ctx.Err() != nil {
		shown.Text = "The gateway has stopped and the call was denied. If it is approved before " + c.Until().Format(time.TimeOnly) +
			" UTC, one identical retry still passes."
	}
	if err := ch.Settle(ctx, copied.Ref, c, shown); err != nil {
		d.o.Log.ErrorContext(ctx, "a card could not be edited; its buttons answer with the truth", "channel", copied.Channel, "ref", c.Ref(), "err", err)
	}
}

// patience is how long a channel may take to show something: less once the desk
// stops, since the process is to end soon.
func (d *Desk) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendDeadline)
	unhook := context.AfterFunc(d.ctx, func() {
		t := time.NewTimer(stopDeadline)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		unhook()
		cancel()
	}
}

// turns let one at a time edit a copy.
type turns struct {
	mu   sync.Mutex
	held map[Copy]*turn
}

type turn struct {
	sync.Mutex
	wanted int
}

// take waits for its turn at a copy and returns what ends it.
func (t *turns) take(at Copy) (done func()) {
	t.mu.Lock()
	if t.held == nil {
		t.held = make(map[Copy]*turn)
	}
	mine := t.held[at]
	if mine == nil {
		mine = &turn{}
		t.held[at] = mine
	}
	mine.wanted++
	t.mu.Unlock()
	mine.Lock()
	return func() {
		mine.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.wanted--; mine.wanted == 0 {
			delete(t.held, at)
		}
	}
}
