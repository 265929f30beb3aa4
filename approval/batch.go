package approval

import (
	"context"
	"errors"
	"time"
)

// gather puts a call that MaxOpen keeps out on the conversation's batch card.
// The first such call opens it; it collects for a moment, is frozen, and goes
// out as one card. What comes after that is refused until something settles:
// an owner who is flooded stops reading.
func (pl *placer) gather(ctx context.Context, r *Request, instead, id string) (string, error) {
	if id == "" {
		p, err := pl.place(ctx, r, instead, true)
		switch {
		case err != nil:
			return "", err
		case p.State == New:
			pl.runFor(ctx, func(ctx context.Context) { pl.collect(ctx, p.ID) })
			return p.ID, nil
		case p.State == Shared:
			joined, err := pl.join(ctx, p.ID, r)
			return p.ID, fullUnless(joined, err)
		}
		id = p.ID
	}
	added, err := pl.append(ctx, id, r)
	return id, fullUnless(added, err)
}

func fullUnless(stands bool, err error) error {
	if err == nil && !stands {
		return errFull
	}
	return err
}

// append adds a question to a batch card that is still open to it.
func (pl *placer) append(ctx context.Context, id string, r *Request) (bool, error) {
	for range swapTries {
		c, now, err := pl.load(ctx, id)
		if err != nil {
			return false, err
		}
		if c.Frozen || len(c.Questions) >= maxBatch || !now.Before(c.Until()) {
			return false, nil
		}
		if q := c.question(r.Ask.Digest); q != nil {
			q.join(pl.process.holder(r.ID))
		} else if ok, err := pl.extend(c, r); err != nil || !ok {
			return false, err
		}
		err = pl.swap(ctx, c, Change{Waiting: map[string]time.Time{r.Ask.Digest: c.Until()}})
		if !errors.Is(err, ErrStale) {
			return err == nil, err
		}
	}
	return false, ErrStale
}

// extend adds a sealed question that expires with its card. One that goes another
// way stays off it: the list is shown where the first question is, and only
// those who may answer that one answer it.
func (pl *placer) extend(c *Card, r *Request) (bool, error) {
	a, first := r.Ask, &c.Questions[0].Ask
	a.Created, a.Until = r.Now.UTC().Truncate(time.Millisecond), c.Until()
	a.hide = pl.o.Hide
	pl.terms().bind(&a)
	if !sameRoute(&a, first) {
		return false, nil
	}
	a.Stages = first.Stages
	q, err := pose(pl.o.Key, c.ID, a, pl.process.holder(r.ID))
	if err == nil {
		c.Questions = append(c.Questions, q)
	}
	return err == nil, err
}

// collect waits a moment, freezes the batch card and sends it.
func (pl *placer) collect(ctx context.Context, id string) {
	t := time.NewTimer(pl.o.Collect)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return
	case <-t.C:
	}
	ctx, cancel := context.WithTimeout(ctx, 3*sendDeadline) // one that hangs leaves time for the next
	defer cancel()
	err := pl.freeze(ctx, id)
	if err == nil {
		err = pl.announce(ctx, id)
	}
	if err != nil {
		pl.o.Log.ErrorContext(ctx, "a batch card could not be sent", "card", id, "err", err)
	}
}

func (pl *placer) freeze(ctx context.Context, id string) error {
	for range swapTries {
		c, _, err := pl.load(ctx, id)
		if err != nil {
			return err
		}
		c.Frozen, c.Listed = true, pl.o.Key.Seal("list", c.list()...)
		if err := pl.swap(ctx, c, Change{}); !errors.Is(err, ErrStale) {
			return err
		}
	}
	return ErrStale
}
