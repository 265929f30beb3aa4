package approval

import (
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/audit"
)

// heldParams are the params of held requests, as they came, for as long as they are
// held and in this process alone: nothing of them is stored.
type heldParams struct {
	mu       sync.Mutex
	byDigest map[string]*kept
}

type kept struct {
	params jsontext.Value
	held   int // requests that hold it
}

// hold keeps params until the request lets go.
func (w *heldParams) hold(digest string, params jsontext.Value) (letGo func()) {
	if len(params) == 0 {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDigest == nil {
		w.byDigest = make(map[string]*kept)
	}
	k := w.byDigest[digest]
	if k == nil {
		k = &kept{params: params}
		w.byDigest[digest] = k
	}
	k.held++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if k.held--; k.held == 0 {
			delete(w.byDigest, digest)
		}
	}
}

func (w *heldParams) find(digest string) jsontext.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.byDigest[digest]; k != nil {
		return k.params
	}
	return nil
}

// ErrNotHeld says that what is hidden is not here: nobody waits for the call in
// this process, so its params are gone.
var ErrNotHeld = errors.New("approval: the call is not held here")

// Reveal shows an approver the params of a card's first call as they came, with
// what redaction hides. That it was shown is recorded first.
func (d *Desk) Reveal(_ context.Context, a Answer, c *Card) (jsontext.Value, error) {
	person, listed := d.terms().people[a.ID]
	if !listed {
		return nil, ErrNotApprover
	}
	q := &c.Questions[0]
	if _, barred := q.Ask.bars(person, true); barred { // whoever may not allow it need not see it
		return nil, ErrNotApprover
	}
	params := d.heldParams.find(q.Ask.Digest)
	if params == nil {
		return nil, ErrNotHeld
	}
	e := entryFor(audit.KindNote, c, q)
	e.Note, e.People = "what is hidden in the call was shown", []audit.Person{{Name: person, Via: a.Via}}
	if err := d.o.Record.Append(e); err != nil {
		return nil, err
	}
	return params, nil
}
