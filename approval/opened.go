package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/redact"
)

// openings shows people what is hidden in a call while it is held.
type openings struct {
	*cardStore

	likes      *likes
	heldParams *heldParams
	onTheWay   onTheWay
}

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
func (q *Question) openedBy(person string) *Opening {
	for i := range q.Openings {
		if o := &q.Openings[i]; o.Person == person && q.key.Check(o.Seal, "opening", o.sealed(q.card, q.Ask.Digest)...) {
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
func (op *openings) Open(ctx context.Context, a Answer, c *Card) error {
	note, err := op.unhide(a, c)
	if note != nil {
		err = errors.Join(err, note(ctx))
	}
	return err
}

// unhide is Open up to where the person has it: then note is called. It is nil where there was nothing to show.
func (op *openings) unhide(a Answer, c *Card) (note func(context.Context) error, err error) {
	person, listed := op.terms().people[a.ID]
	if !listed {
		return nil, ErrNotApprover
	}
	var openings []func(context.Context) error
	for i := range c.Questions {
		q := &c.Questions[i]
		if q.Ask.Bodies == 0 || op.o.Bodies == nil {
			continue
		}
		params, failed := op.held(q, person)
		if failed == nil {
			shown := q.Ask
			shown.Shown, shown.Hidden = op.o.Bodies(&q.Ask, params)
			shown.Bodies = 0
			if failed = op.recordOpening(a, c, q); failed == nil {
				o, digest := op.opening(person, c.ID, &shown), q.Ask.Digest
				openings = append(openings, func(ctx context.Context) error { return op.keepOpening(ctx, c.ID, digest, o) })
				q.Ask = shown
			}
		}
		err = errors.Join(err, failed)
	}
	if len(openings) == 0 {
		return nil, err
	}
	return func(ctx context.Context) (err error) {
		for _, keep := range openings {
			err = errors.Join(err, keep(ctx))
		}
		return err
	}, err
}

// Reveal shows an approver the params of a card's first call as they came, with
// what redaction hides: they are on c then. That it was shown is recorded first.
func (op *openings) Reveal(ctx context.Context, a Answer, c *Card) (jsontext.Value, error) {
	person, listed := op.terms().people[a.ID]
	if !listed {
		return nil, ErrNotApprover
	}
	q := &c.Questions[0]
	params, err := op.held(q, person)
	if err != nil {
		return nil, err
	}
	shown := q.Ask
	shown.Shown, shown.Hidden, shown.Bodies = params, 0, 0
	if q.Ask.HeldOnly || redact.HasMask(q.Ask.Tool) { // what the client hid, and a secret in the tool's name, can't be shown
		shown.Hidden = 1
	}
	if err := op.recordOpening(a, c, q); err != nil {
		return nil, err
	}
	if err := op.keepOpening(ctx, c.ID, q.Ask.Digest, op.opening(person, c.ID, &shown)); err != nil {
		return nil, err
	}
	q.Ask = shown
	return params, nil
}

// held are a call's params as they came, for a person who may allow it.
func (op *openings) held(q *Question, person string) (jsontext.Value, error) {
	if !q.Ask.admits(person) { // who may not allow it need not see it
		return nil, ErrNotApprover
	}
	params := op.heldParams.find(q.Ask.Digest)
	if params == nil {
		return nil, ErrNotHeld
	}
	return params, nil
}

// recordOpening records that a person is shown more of a call than its card shows.
func (op *openings) recordOpening(a Answer, c *Card, q *Question) error {
	e := entryFor(record.KindNote, c, q)
	e.Note, e.People = "what is hidden in the call was shown", []record.Person{{Name: op.terms().people[a.ID], Via: a.Via}}
	return op.o.Record.Append(e)
}

// opening is what is noted of it.
func (op *openings) opening(person, id string, shown *Ask) Opening {
	o := Opening{Person: person, Whole: op.o.Detailed != nil && op.o.Detailed(shown)}
	o.Seal = op.o.Key.Seal("opening", o.sealed(id, shown.Digest)...)
	return o
}

// keepOpening notes it on the card: from now on the person can allow the call.
func (op *openings) keepOpening(ctx context.Context, id, digest string, o Opening) error {
	_, err := op.change(ctx, id, func(c *Card, _ time.Time) (Change, error) {
		q := c.question(digest)
		if q == nil {
			return Change{}, ErrGone
		}
		if before := q.openedBy(o.Person); before != nil && (before.Whole || !o.Whole) {
			return Change{}, errUnchanged
		}
		q.Openings = append(slices.DeleteFunc(q.Openings, func(x Opening) bool { return x.Person == o.Person }), o)
		return Change{}, nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// onTheWay are details that are being delivered, by card and person: a tap on their button may come before the platform has answered.
type onTheWay struct{ sync.Map }

// begin notes a delivery until end is called.
func (w *onTheWay) begin(key string) (end func()) {
	mine := make(chan struct{})
	w.Store(key, mine)
	return sync.OnceFunc(func() {
		w.CompareAndDelete(key, mine)
		close(mine)
	})
}

// wait waits for a delivery to end, if there is one.
func (w *onTheWay) wait(ctx context.Context, key string) {
	sending, _ := w.Load(key)
	sent, ok := sending.(chan struct{})
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sendDeadline)
	defer cancel()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}

// showAll is the outcome of a tap on More: the card with all that may be shown. What was hidden counts as read when the channel says that
// it has delivered it.
func (op *openings) showAll(ctx context.Context, person string, a Answer, c *Card) Outcome {
	note, err := op.unhide(a, c)
	if err != nil {
		op.o.Log.WarnContext(ctx, "what a call writes could not be shown", "ref", c.Ref(), "err", err)
	}
	c.ShowLikePreview(op.likes.likely(ctx, c, c.Minutes()))
	o := Outcome{Kind: Shown, Card: c}
	if note == nil {
		return o
	}
	end := op.onTheWay.begin(c.ID + person)
	o.delivered = func(ctx context.Context, failed error) {
		defer end()
		if failed != nil {
			return
		}
		if err := note(ctx); err != nil {
			op.o.Log.WarnContext(ctx, "it could not be noted that a person was shown what a call writes", "ref", c.Ref(), "err", err)
		}
	}
	return o
}

// Delivered says that what a tap on More asked for has reached the person, or why it has not. A channel says so of each [Shown].
func (o *Outcome) Delivered(ctx context.Context, failed error) {
	if o.delivered != nil {
		o.delivered(ctx, failed)
	}
}
