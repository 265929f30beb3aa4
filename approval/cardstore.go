package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/recent"
)

// cardStore reads and writes cards. It opens only cards with this server's seal, and wakes those who wait for a card that it changes.
type cardStore struct {
	*core

	process       process
	waiters       waiters
	recentCards   recentCards
	usedApprovals usedApprovals
}

// load reads one card.
func (cs *cardStore) load(ctx context.Context, id string) (*Card, time.Time, error) {
	stored, now, err := cs.o.Store.Load(ctx, id)
	if err != nil {
		return nil, now, err
	}
	if len(stored) == 0 {
		return nil, now, ErrGone
	}
	now = now.UTC()
	c, err := cs.open(stored[0], now)
	return c, now, err
}

// swap writes a changed card back, with effects that ch names.
func (cs *cardStore) swap(ctx context.Context, c *Card, ch Change) error {
	blob, err := c.encode()
	if err != nil {
		return err
	}
	ch.ID, ch.Version, ch.Blob, ch.Conversation = c.ID, c.version, blob, c.Questions[0].Ask.Conversation
	if err := cs.o.Store.Swap(ctx, ch); err != nil {
		return err
	}
	c.version++
	cs.waiters.wake(c.ID)
	return nil
}

// errUnchanged is what an edit returns that leaves a card as it is.
var errUnchanged = errors.New("approval: the card needs no change")

// change reads a card, has edit change it and writes it back, together with what edit returns. Where someone else was first, it begins again.
// The error of an edit ends it: then nothing is written.
func (cs *cardStore) change(ctx context.Context, id string, edit func(c *Card, now time.Time) (Change, error)) (*Card, error) {
	for range swapTries {
		c, now, err := cs.load(ctx, id)
		if err != nil {
			return nil, err
		}
		ch, err := edit(c, now)
		if err == nil {
			err = cs.swap(ctx, c, ch)
		}
		if !errors.Is(err, ErrStale) {
			return c, err
		}
	}
	return nil, ErrStale
}

func (cs *cardStore) codeSeal(code string) string { return cs.o.Key.Seal("code", code) }

// open reads a stored card. One whose content does not carry this server's seal
// was not made by us and is no card; a yes without our seal, or of someone who may
// no longer approve, is left out.
func (cs *cardStore) open(s Stored, now time.Time) (*Card, error) {
	c, t := &Card{version: s.Version}, cs.terms()
	if err := json.Unmarshal(s.Blob, c); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	if c.ID != s.ID || len(c.Questions) == 0 {
		return nil, errForged
	}
	for i := range c.Questions {
		q := &c.Questions[i]
		q.card, q.key = c.ID, cs.o.Key
		parts, err := sealedAsk(c.ID, &q.Ask)
		if err != nil || !cs.o.Key.Check(q.Seal, "question", parts...) {
			return nil, errForged
		}
		q.Votes = slices.DeleteFunc(q.Votes, func(v Vote) bool { return v.Allow && !q.counts(&v) })
		t.dropLapsed(q, now)
		q.Ask.hide = cs.o.Hide
	}
	c.Code, c.key, c.longest = codes.Code(cs.o.Key, c.ID), cs.o.Key, t.MaxMinutes
	return c, nil
}

var errForged = fmt.Errorf("approval: a stored card does not carry this server's seal")

// openCards are those that wait for an answer, oldest first.
func (cs *cardStore) openCards(ctx context.Context) (cards []*Card, now time.Time, err error) {
	ids, err := cs.o.Store.Open(ctx)
	if err != nil || len(ids) == 0 {
		return nil, now, err
	}
	stored, now, err := cs.o.Store.Load(ctx, ids...)
	if err != nil {
		return nil, now, err
	}
	now = now.UTC()
	for _, s := range stored {
		c, err := cs.open(s, now)
		if err != nil {
			cs.o.Log.ErrorContext(ctx, "a stored card can't be read and is not shown", "card", s.ID, "err", err)
			continue
		}
		if c.Frozen && !c.closed(now) {
			cards = append(cards, c)
		}
	}
	return cards, now, nil
}

// Pending lists the open cards that an approver may answer, with their codes.
func (cs *cardStore) Pending(ctx context.Context, id string) ([]*Card, error) {
	person, listed := cs.terms().people[id]
	if !listed {
		return nil, ErrNotApprover
	}
	cards, _, err := cs.openCards(ctx)
	return slices.DeleteFunc(cards, func(c *Card) bool {
		return slices.ContainsFunc(c.all(), func(q *Question) bool { return !q.Ask.admits(person) })
	}), err
}

// ErrNotApprover says that someone asked for what only approvers may see.
var ErrNotApprover = errors.New("approval: not an approver")

// Waiting lists the open cards, oldest first, with the store's time. They carry
// no codes: the page answers by buttons.
func (cs *cardStore) Waiting(ctx context.Context) (cards []*Card, now time.Time, err error) {
	cards, now, err = cs.openCards(ctx)
	for _, c := range cards {
		c.Code = ""
	}
	if now.IsZero() {
		now = time.Now().UTC()
	}
	return cards, now, err
}

// Look is one card in its present state, settled ones too for as long as [Retention].
// It carries no code. ErrGone says that there is none.
func (cs *cardStore) Look(ctx context.Context, id string) (*Card, Outcome, time.Time, error) {
	c, now, err := cs.load(ctx, id)
	if err != nil {
		return nil, Outcome{}, now, err
	}
	if !c.Frozen {
		return nil, Outcome{}, now, ErrGone
	}
	c.Code = ""
	return c, c.status(now), now, nil
}

// UsedUp reports whether people have allowed a call on a card, and a request has used that yes.
func (cs *cardStore) UsedUp(ctx context.Context, card, digest string) bool {
	c, now, err := cs.load(ctx, card)
	if err != nil {
		return false
	}
	q := c.question(digest)
	return q != nil && q.Used != "" && q.state(now) == Allowed
}

// byRef finds a card by its short name among the open ones and those that this
// process has seen lately. Short names may meet; then the code decides.
func (cs *cardStore) byRef(ctx context.Context, ref string) (string, error) {
	ref = strings.ToUpper(strings.TrimSpace(ref))
	ids, err := cs.o.Store.Open(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	for _, id := range ids {
		if codes.Ref(id) != ref {
			continue
		}
		if found != "" {
			return "", errTwoCards
		}
		found = id
	}
	if found != "" {
		cs.recentCards.note(ref, found) // so that a late answer can say who answered
		return found, nil
	}
	return cs.recentCards.find(ref), nil
}

var errTwoCards = errors.New("approval: two open cards have the same reference")

// find gives the card behind a code: "" if there is none, or none that its
// carrier may answer. Both look the same, so that guessing tells nothing.
func (cs *cardStore) find(ctx context.Context, code string, by *Carrier) (string, error) {
	id, err := cs.o.Store.Find(ctx, cs.codeSeal(code))
	if err != nil || id == "" || by == nil {
		return id, err
	}
	c, _, err := cs.load(ctx, id)
	switch {
	case errors.Is(err, ErrGone):
		return id, nil // the reply says so
	case err != nil || !by.carries(c):
		return "", err
	}
	return id, nil
}

// recentCards remembers the cards of this process by their short names, so that the
// reply to a late answer is what happened and not "no such card".
type recentCards struct{ recent.Shared[string, string] }

func (r *recentCards) note(ref, id string) { r.Put(ref, id, 1024) }

func (r *recentCards) find(ref string) string {
	id, _ := r.Get(ref)
	return id
}
