package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact"
)

// Opening says that a person was shown what their config hides on the card: what a call writes to files. Until then they can't allow it.
type Opening struct {
	Person string `json:"person"`
	Whole  bool   `json:"whole,omitzero"` // nothing of the call was hidden from them then
	Seal   string `json:"seal"`
}

func (o *Opening) sealed(id, digest string) []string {
	return []string{id, digest, o.Person, fmt.Sprint(o.Whole)}
}

// openedBy is the opening of a question by a person, if it is one of ours.
func (q *Question) openedBy(key hmac.Key, id, person string) *Opening {
	for i := range q.Openings {
		if o := &q.Openings[i]; o.Person == person && key.Check(o.Seal, "opening", o.sealed(id, q.Ask.Digest)...) {
			return o
		}
	}
	return nil
}

// unopened answers a yes to a call whose file text the person has not read.
const unopened = " Your config hides what this call writes, and you have not read it. While the agent waits, open More… on the card, " +
	"*Show what is hidden* on the page, or `verifier pending` with the reference. Nothing was approved."

// ErrNotHeld says that the call no longer waits in this process, so what was
// hidden in it is gone.
var ErrNotHeld = errors.New("approval: the call is not held here")

// Open shows an approver what the calls of a card write to files, where the config hides it on cards: it is on c then, with secrets
// still hidden. That it was shown is recorded first. Calls that don't wait in this process, and calls that this person may not allow, stay hidden.
func (d *Desk) Open(ctx context.Context, a Answer, c *Card) error {
	person, listed := d.terms().people[a.ID]
	if !listed {
		return ErrNotApprover
	}
	var failed error
	for i := range c.Questions {
		q := &c.Questions[i]
		if q.Ask.Bodies == 0 || d.o.Bodies == nil {
			continue
		}
		params, err := d.held(q, person)
		if err == nil {
			shown := q.Ask
			shown.Shown, shown.Hidden = d.o.Bodies(&q.Ask, params)
			shown.Bodies = 0
			if err = d.opened(ctx, a, c, q, &shown); err == nil {
				q.Ask = shown
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Reveal shows an approver the params of a card's first call as they came, with
// what redaction hides: they are on c then. That it was shown is recorded first.
func (d *Desk) Reveal(ctx context.Context, a Answer, c *Card) (jsontext.Value, error) {
	person, listed := d.terms().people[a.ID]
	if !listed {
		return nil, ErrNotApprover
	}
	q := &c.Questions[0]
	params, err := d.held(q, person)
	if err != nil {
		return nil, err
	}
	shown := q.Ask
	shown.Shown, shown.Hidden, shown.Bodies = params, 0, 0
	if q.Ask.HeldOnly || redact.HasMask(q.Ask.Tool) { // what the client hid, and a secret in the tool's name, can't be shown
		shown.Hidden = 1
	}
	if err := d.opened(ctx, a, c, q, &shown); err != nil {
		return nil, err
	}
	q.Ask = shown
	return params, nil
}

// held are a call's params as they came, for a person who may allow it.
func (d *Desk) held(q *Question, person string) (jsontext.Value, error) {
	if _, barred := q.Ask.bars(person, true); barred { // who may not allow it need not see it
		return nil, ErrNotApprover
	}
	params := d.heldParams.find(q.Ask.Digest)
	if params == nil {
		return nil, ErrNotHeld
	}
	return params, nil
}

// opened records that a person is shown more of a call than its card shows, and notes it on the card.
func (d *Desk) opened(ctx context.Context, a Answer, c *Card, q *Question, shown *Ask) error {
	person := d.terms().people[a.ID]
	e := entryFor(audit.KindNote, c, q)
	e.Note, e.People = "what is hidden in the call was shown", []audit.Person{{Name: person, Via: a.Via}}
	if err := d.o.Record.Append(e); err != nil {
		return err
	}
	o := Opening{Person: person, Whole: d.o.Detailed != nil && d.o.Detailed(shown)}
	o.Seal = d.o.Key.Seal("opening", o.sealed(c.ID, q.Ask.Digest)...)
	for range swapTries {
		stored, _, err := d.load(ctx, c.ID)
		if err != nil {
			return err
		}
		at := stored.question(q.Ask.Digest)
		if at == nil {
			return ErrGone
		}
		if before := at.openedBy(d.o.Key, c.ID, person); before != nil && (before.Whole || !o.Whole) {
			return nil
		}
		at.Openings = append(slices.DeleteFunc(at.Openings, func(x Opening) bool { return x.Person == person }), o)
		if err := d.swap(ctx, stored, Change{}); !errors.Is(err, ErrStale) {
			return err
		}
	}
	return ErrStale
}
