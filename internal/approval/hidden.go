package approval

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// ErrNotHeld says that the call no longer waits in this process, so what was hidden in it is gone.
var ErrNotHeld = errors.New("approval: the call is not held here")

// Open shows an approver what a call writes to files, where the config hides it on cards: it is on c then, with
// secrets still hidden. That it was shown is recorded first. A call that does not wait in this process stays hidden.
func (d *Desk) Open(ctx context.Context, a Answer, c *Card) error { //nolint:gocritic // a channel's answer
	keep, err := d.showBodies(&a, c)
	if err != nil {
		return err
	}
	return keep(ctx)
}

// showBodies is Open up to where the person has it: then keep is to be called.
func (d *Desk) showBodies(a *Answer, c *Card) (keep func(context.Context) error, err error) {
	if c.Ask.Bodies == 0 || d.o.Bodies == nil {
		return func(context.Context) error { return nil }, nil
	}
	return d.showHidden(a, c, func(shown *Ask, params jsontext.Value) {
		shown.Shown, shown.Hidden = d.o.Bodies(&c.Ask, params)
	})
}

// Reveal shows an approver the params of a card's call as they came, with what redaction hides: they are on c then.
// That it was shown is recorded first.
func (d *Desk) Reveal(ctx context.Context, a Answer, c *Card) (jsontext.Value, error) { //nolint:gocritic // the same
	keep, err := d.showHidden(&a, c, func(shown *Ask, params jsontext.Value) {
		shown.Shown, shown.Hidden = params, 0
		if c.Ask.HeldOnly || redact.HasMask(c.Ask.Tool) { // the client hid something, or the tool's name is a secret
			shown.Hidden = 1
		}
	})
	if err == nil {
		err = keep(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.Ask.Shown, nil
}

// showHidden records that a person is shown more of a call than its card shows, and puts that on the card they see. Who
// may not allow the call need not see it. keep notes on the stored card that they were: from then on they can allow it.
func (d *Desk) showHidden(a *Answer, c *Card,
	show func(shown *Ask, params jsontext.Value)) (keep func(context.Context) error, err error) {
	held := d.waiters.held(c.ID)
	switch {
	case !d.MayAnswer(a.ID, c):
		return nil, ErrNotApprover
	case len(held) == 0 || held[0].request.Whole == nil:
		return nil, ErrNotHeld
	}
	person, e := d.terms().people[a.ID], entryFor(record.KindNote, c)
	e.Note, e.People = "what is hidden in the call was shown", []record.Person{{Name: person, Via: a.Via}}
	if err := d.o.Record.Append(e); err != nil {
		return nil, err
	}
	shown := c.Ask
	shown.Bodies = 0
	show(&shown, held[0].request.Whole)
	c.Ask = shown
	whole := d.o.Detailed(&shown)
	return func(ctx context.Context) error {
		_, err := d.change(ctx, c, func(_ *store.Tx, c *Card) (bool, error) {
			if before, read := c.Readers[person]; read && (before || !whole) {
				return false, nil
			}
			if c.Readers == nil {
				c.Readers = make(map[string]bool)
			}
			c.Readers[person] = whole
			return true, nil
		})
		return err
	}, nil
}

// showAll is the outcome of a tap on More: the card with all that may be shown. What was hidden counts as read when
// the channel says that it has delivered it.
func (an *answering) showAll(ctx context.Context, c *Card) Outcome {
	keep, err := an.showBodies(an.Answer, c)
	if err != nil {
		an.o.Log.WarnContext(ctx, "what a call writes could not be shown", "ref", c.Ref(), "err", err)
		return Outcome{Kind: Shown, Card: c}
	}
	return Outcome{Kind: Shown, Card: c, delivered: func(ctx context.Context) {
		if err := keep(ctx); err != nil {
			an.o.Log.WarnContext(ctx, "that a person was shown what a call writes was not noted", "err", err)
		}
	}}
}
