package approval

import (
	"context"
	"slices"
	"time"
)

// Lists reports whether an id may answer at all. What it may answer is for
// Answer to say.
func (d *Desk) Lists(id string) bool {
	_, listed := d.terms().people[id]
	return listed
}

// Careful reports whether anything on the card is not to be allowed by reflex.
func (c *Card) Careful() bool {
	return slices.ContainsFunc(c.Questions, func(q Question) bool { return q.Ask.Careful })
}

// Waiting lists the open cards for whoever may look, oldest first, by the
// store's clock. They carry no codes: whoever answers there does it by a button.
func (d *Desk) Waiting(ctx context.Context) (cards []*Card, now time.Time, err error) {
	cards, now, err = d.openCards(ctx)
	for _, c := range cards {
		c.Code = ""
	}
	if now.IsZero() {
		now = time.Now().UTC()
	}
	return cards, now, err
}

// Look is one card as it stands, settled ones too for as long as [Retention].
// It carries no code. ErrGone says that there is none.
func (d *Desk) Look(ctx context.Context, id string) (*Card, Outcome, time.Time, error) {
	c, now, err := d.load(ctx, id)
	if err != nil {
		return nil, Outcome{}, now, err
	}
	if !c.Frozen {
		return nil, Outcome{}, now, ErrGone
	}
	c.Code = ""
	return c, c.status(now), now, nil
}

// Reachable says of a person, by their id, whether to notify them of a card now: they may answer a call on it, are not away, and it breaks
// their quiet hours if they have any. If the store does not answer, absences don't count: a notification allows nothing.
func (d *Desk) Reachable(ctx context.Context) func(id string, c *Card) bool {
	t, now := d.terms(), d.o.Now()
	said, err := d.words(ctx)
	if err != nil {
		d.o.Log.WarnContext(ctx, "who is away could not be read", "err", err)
	}
	return func(id string, c *Card) bool {
		name, listed := t.people[id]
		p := t.person(name)
		return listed && slices.ContainsFunc(c.Questions, func(q Question) bool {
			return q.Ask.admits(name) && !t.returns(&p, said, t.urgent(&q.Ask), now).After(now)
		})
	}
}
