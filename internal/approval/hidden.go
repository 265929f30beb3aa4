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
	read, err := d.showHidden(&a, c, false)
	if err != nil {
		return err
	}
	return read(ctx)
}

// Reveal shows an approver the params of a card's call as they came, with what redaction hides, in the same way.
func (d *Desk) Reveal(ctx context.Context, a Answer, c *Card) (jsontext.Value, error) { //nolint:gocritic // the same
	read, err := d.showHidden(&a, c, true)
	if err == nil {
		err = read(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.Ask.Shown, nil
}

// showHidden records that a person is shown more of a call than its card shows, and puts that on the card they see:
// what it writes to files, or all. Who may not allow the call need not see it. read notes on the stored card that the
// person has it: from then on they can allow it.
func (d *Desk) showHidden(a *Answer, c *Card, all bool) (read func(context.Context) error, err error) {
	if !all && (c.Ask.Bodies == 0 || d.o.Bodies == nil) {
		return func(context.Context) error { return nil }, nil
	}
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
	switch {
	case !all:
		c.Ask.Shown, c.Ask.Hidden = d.o.Bodies(&c.Ask, held[0].request.Whole)
	case c.Ask.HeldOnly || redact.HasMask(c.Ask.Tool): // the client hid something, or the tool's name is a secret
		c.Ask.Shown, c.Ask.Hidden = held[0].request.Whole, 1
	default:
		c.Ask.Shown, c.Ask.Hidden = held[0].request.Whole, 0
	}
	c.Ask.Bodies = 0
	whole := d.o.Detailed(&c.Ask)
	return func(ctx context.Context) error {
		_, err := d.change(ctx, c, func(_ *store.Tx, c *Card) (bool, error) {
			before, known := c.Readers[person]
			if c.Readers == nil {
				c.Readers = make(map[string]bool)
			}
			c.Readers[person] = before || whole
			return !known || whole && !before, nil
		})
		return err
	}, nil
}

// showAll is the outcome of a tap on More: the card with all that may be shown. What was hidden counts as read when
// the channel says that it has delivered it.
func (an *answering) showAll(ctx context.Context, c *Card) Outcome {
	read, err := an.showHidden(an.Answer, c, false)
	if err != nil {
		an.o.Log.WarnContext(ctx, "what a call writes could not be shown", "ref", c.Ref(), "err", err)
		return Outcome{Kind: Shown, Card: c}
	}
	return Outcome{Kind: Shown, Card: c, delivered: func(ctx context.Context) {
		if err := read(ctx); err != nil {
			an.o.Log.WarnContext(ctx, "that a person was shown what a call writes was not noted", "err", err)
		}
	}}
}
