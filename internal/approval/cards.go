package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// cards reads and writes them.
type cards struct{ *core }

// ErrNotApprover says that someone asked for what only approvers may see.
var ErrNotApprover = errors.New("approval: not an approver")

// errUnchanged is what an update returns that leaves everything as it is.
var errUnchanged = errors.New("approval: nothing needs to change")

// open reads a stored card.
func (cs *cards) open(k *store.Card) (*Card, error) {
	c := &Card{ID: k.ID, kept: k}
	if err := json.Unmarshal(k.Data, c); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	if err := json.Unmarshal(c.Text, &c.Ask); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	c.Ask.hide = cs.o.Hide
	c.Code, c.key, c.longest = codes.Code(cs.o.Key, c.ID), cs.o.Key, cs.terms().MaxMinutes
	return c, nil
}

// put writes a card with the update.
func (c *Card) put(t *store.Tx) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	c.kept.Data = data
	t.PutCard(c.kept)
	return nil
}

// read is a card in an update.
func (cs *cards) read(t *store.Tx, id string) (*Card, error) {
	k, err := t.Card(id)
	if err != nil {
		return nil, err
	}
	return cs.open(k)
}

// load reads a card outside of an update.
func (cs *cards) load(ctx context.Context, id string) (*Card, time.Time, error) {
	k, now, err := cs.o.Store.Card(ctx, codes.Code(cs.o.Key, id))
	if err != nil {
		return nil, now, err
	}
	if k.ID != id { // another one has the code by now
		return nil, now, store.ErrGone
	}
	c, err := cs.open(k)
	return c, now, err
}

// change has edit change a card and writes it back, in its conversation. An edit that returns an error ends it: then
// nothing is written.
func (cs *cards) change(ctx context.Context, c *Card, edit func(t *store.Tx, c *Card) error) (*Card, error) {
	var changed *Card
	err := cs.o.Store.Update(ctx, c.kept.Conversation, func(t *store.Tx) (err error) {
		if changed, err = cs.read(t, c.ID); err != nil {
			return err
		}
		if err := edit(t, changed); err != nil {
			return err
		}
		return changed.put(t)
	})
	return changed, err
}

// openCards are those that wait for an answer, oldest first.
func (cs *cards) openCards(ctx context.Context) (open []*Card, now time.Time, err error) {
	stored, now, err := cs.o.Store.Cards(ctx)
	if err != nil {
		return nil, now, err
	}
	for i := range stored {
		c, err := cs.open(&stored[i])
		if err != nil {
			cs.o.Log.ErrorContext(ctx, "a stored card can't be read and is not shown", "err", err)
		} else if c.at(now) == Open {
			open = append(open, c)
		}
	}
	return open, now, nil
}

// Pending lists the open cards that an approver may answer, with their codes.
func (cs *cards) Pending(ctx context.Context, id string) ([]*Card, error) {
	person := cs.terms().people[id]
	if person == "" {
		return nil, ErrNotApprover
	}
	open, _, err := cs.openCards(ctx)
	return slices.DeleteFunc(open, func(c *Card) bool { return !c.Ask.admits(person) }), err
}

// Waiting lists the open cards, oldest first, with the store's time. They carry no codes: the page answers by
// buttons.
func (cs *cards) Waiting(ctx context.Context) (open []*Card, now time.Time, err error) {
	open, now, err = cs.openCards(ctx)
	for _, c := range open {
		c.Code = ""
	}
	return open, now, err
}

// Look is one card in its present state, settled ones too for a while. It carries no code. [store.ErrGone] says that
// there is none.
func (cs *cards) Look(ctx context.Context, id string) (*Card, Outcome, time.Time, error) {
	c, now, err := cs.load(ctx, id)
	if err != nil {
		return nil, Outcome{}, now, err
	}
	c.Code = ""
	return c, c.outcome(now), now, nil
}

var errTwoCards = errors.New("approval: two open cards have the same reference")

// byRef finds an open card by its short name. Short names may meet; then the code decides.
func (cs *cards) byRef(ctx context.Context, ref string) (found *Card, err error) {
	open, _, err := cs.openCards(ctx)
	for _, c := range open {
		if !strings.EqualFold(c.Ref(), strings.TrimSpace(ref)) {
			continue
		}
		if found != nil {
			return nil, errTwoCards
		}
		found = c
	}
	return found, err
}

// Count is a number of things in words.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxQuoted is how many characters of a name fit into a sentence.
const maxQuoted = 80

// quote shows an untrusted name in a sentence: no secret, and nothing beyond ASCII as itself.
func quote(s string) string {
	s = redact.Line(s)
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.QuoteToASCII(string(r[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

func quoted(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}
