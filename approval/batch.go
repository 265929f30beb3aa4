package approval

import (
	"context"
	"time"
)

// gather puts a call that MaxOpen keeps out on the conversation's batch card.
// The first such call opens it; it collects for a moment, is frozen, and goes
// out as one card. What comes after that is refused until something settles:
// an owner who is flooded stops reading.
func (pl *placer) gather(ctx context.Context, r *Request, instead, id string) (string, error) {
	if id == "" {
		p, _, err := pl.place(ctx, []*Request{r}, instead, true)
		switch {
		case err != nil:
			return "", err
		case p.State == New:
			pl.runFor(ctx, func(ctx context.Context) { pl.collect(ctx, p.ID) })
			return p.ID, nil
		case p.State == Shared:
			joined, err := pl.join(ctx, p.ID, r)
			if err == nil && !joined {
				err = errFull
			}
			return p.ID, err
		}
		id = p.ID
	}
	return id, pl.append(ctx, id, r)
}

// append adds a question to a batch card that is still open to it.
func (pl *placer) append(ctx context.Context, id string, r *Request) error {
	_, err := pl.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		if c.Frozen || len(c.Questions) >= maxBatch || !now.Before(c.Until()) {
			return Change{}, errFull
		}
		if q := c.question(r.Ask.Digest); q != nil {
			q.join(pl.process.holder(r.ID))
		} else if ok, err := pl.extend(c, r); err != nil {
			return Change{}, err
		} else if !ok {
			return Change{}, errFull
		}
		return Change{Waiting: map[string]time.Time{r.Ask.Digest: c.Until()}}, nil
	})
	return err
}

// extend adds a sealed question that expires with its card. One that goes another
// way stays off it: the list is shown where the first question is, and only
// those who may answer that one answer it.
func (pl *placer) extend(c *Card, r *Request) (bool, error) {
	a, first := r.Ask, &c.Questions[0].Ask
	a.Created, a.Until = r.Now.UTC().Truncate(time.Millisecond), c.Until()
	a.hide = pl.o.Hide
	pl.terms().bind(&a)
	if !sameWay(&a, first) {
		return false, nil
	}
	q, err := pose(pl.o.Key, c.ID, a, pl.process.holder(r.ID))
	if err == nil {
		c.Questions = append(c.Questions, q)
	}
	return err == nil, err
}

// collect waits a moment, freezes the batch card and sends it.
func (pl *placer) collect(ctx context.Context, id string) {
	if !sleep(ctx, pl.o.Collect) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*sendDeadline) // one that hangs leaves time for the next
	defer cancel()
	_, err := pl.change(ctx, id, func(c *Card, _ time.Time) (Change, error) {
		c.Frozen, c.Listed = true, pl.o.Key.Seal("list", c.list()...)
		return Change{}, nil
	})
	if err == nil {
		err = pl.announce(ctx, id)
	}
	if err != nil {
		pl.o.Log.ErrorContext(ctx, "a batch card could not be sent", "card", id, "err", err)
	}
}
