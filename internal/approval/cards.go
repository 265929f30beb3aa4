package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// cards reads and writes them, under the terms in force.
type cards struct {
	o       Options
	inForce atomic.Pointer[terms]
	waiters waiters

	mu   sync.Mutex
	seen map[string]string // ids by short names, so that a late answer reads what happened
}

// ErrNotApprover says that someone asked for what only approvers may see.
var ErrNotApprover = errors.New("approval: not an approver")

// open reads a stored card.
func (cs *cards) open(k *store.Card) (*Card, error) {
	t := cs.terms()
	c := &Card{ID: k.ID, kept: k, Code: codes.Code(cs.o.Key, k.ID), key: cs.o.Key, longest: t.MaxMinutes}
	err := json.Unmarshal(k.Data, c)
	if err == nil {
		err = json.Unmarshal(c.Text, &c.Ask)
	}
	if err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	if c.Ask.hide = cs.o.Hide; c.State == Open { // a yes of somebody who may not give it any more is none
		c.Votes = slices.DeleteFunc(c.Votes, func(v Vote) bool { return t.lapsed(&v) })
	}
	const most = 4096 // once there are too many, all are forgotten
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.seen) >= most || cs.seen == nil {
		cs.seen = make(map[string]string)
	}
	cs.seen[c.Ref()] = c.ID
	return c, nil
}

// put writes a card with the update.
func (c *Card) put(t *store.Tx) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	c.kept.Data = data
	return t.PutCard(c.kept)
}

// read is a card in an update.
func (cs *cards) read(t *store.Tx, id string) (*Card, error) {
	k, err := t.Card(id)
	if err != nil {
		return nil, err
	}
	return cs.open(k)
}

// about are the cards of a conversation that are open or were answered lately, all of them or those about one call.
func (cs *cards) about(t *store.Tx, digest string) (all []*Card, err error) {
	for _, o := range t.C.Open {
		if digest != "" && o.Digest != digest {
			continue
		}
		c, err := cs.read(t, o.ID)
		switch {
		case errors.Is(err, store.ErrGone):
		case err != nil:
			return nil, err
		default:
			all = append(all, c)
		}
	}
	return all, nil
}

// load reads a card outside of an update.
func (cs *cards) load(ctx context.Context, id string) (*Card, time.Time, error) {
	c, now, err := cs.byCode(ctx, codes.Code(cs.o.Key, id))
	if err == nil && c.ID != id { // another one has the code by now
		return nil, now, store.ErrGone
	}
	return c, now, err
}

// byCode is the card with a code, and the time.
func (cs *cards) byCode(ctx context.Context, code string) (*Card, time.Time, error) {
	k, now, err := cs.o.Store.Card(ctx, code)
	if err != nil {
		return nil, now, err
	}
	c, err := cs.open(k)
	return c, now, err
}

// change has edit change a card and writes it back, in its conversation. Where edit says that nothing is to change,
// nothing is written, and there is no card.
func (cs *cards) change(ctx context.Context, c *Card,
	edit func(t *store.Tx, c *Card) bool) (changed *Card, err error) {
	err = cs.o.Store.Update(ctx, c.kept.Conversation, func(t *store.Tx) error {
		changed = nil
		now, err := cs.read(t, c.ID)
		if err != nil || !edit(t, now) {
			return err
		}
		changed = now
		return now.put(t)
	})
	return changed, err
}

// openCards are those that wait for an answer, oldest first.
func (cs *cards) openCards(ctx context.Context) (open []*Card, now time.Time, err error) {
	stored, now, err := cs.o.Store.Cards(ctx)
	for _, k := range stored {
		c, err := cs.open(k)
		if err != nil {
			cs.o.Log.ErrorContext(ctx, "a stored card can't be read and is not shown", "err", err)
		} else if c.at(now) == Open {
			open = append(open, c)
		}
	}
	return open, now, err
}

// byRef finds the cards with a short name: the open ones, or else the last that this process has opened.
func (cs *cards) byRef(ctx context.Context, ref string) ([]*Card, error) {
	ref = strings.ToUpper(strings.TrimSpace(ref))
	cs.mu.Lock()
	id, known := cs.seen[ref]
	cs.mu.Unlock()
	found, _, err := cs.openCards(ctx)
	found = slices.DeleteFunc(found, func(c *Card) bool { return c.Ref() != ref })
	if len(found) > 0 || !known || err != nil {
		return found, err
	}
	c, _, err := cs.load(ctx, id)
	switch {
	case errors.Is(err, store.ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []*Card{c}, nil
}

// Pending lists the open cards that an approver may answer, with their codes.
func (cs *cards) Pending(ctx context.Context, id string) ([]*Card, error) {
	if !cs.Lists(id) {
		return nil, ErrNotApprover
	}
	open, _, err := cs.openCards(ctx)
	return slices.DeleteFunc(open, func(c *Card) bool { return !cs.MayAnswer(id, c) }), err
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

// note records what does not hold anything up; a failure shows in health.
func (cs *cards) note(ctx context.Context, e record.Entry) {
	if err := cs.o.Record.Append(e); err != nil {
		cs.o.Log.ErrorContext(ctx, "the record could not be written", "kind", e.Kind, "ref", e.Ref, "err", err)
	}
}

// entryFor is a record entry about a card.
func entryFor(kind record.Kind, c *Card) record.Entry {
	a := &c.Ask
	return record.Entry{
		Kind: kind, Ref: c.Ref(), Card: c.ID, Client: a.Conversation.Client, Session: a.SessionKey,
		SessionID: a.SessionID, Agent: a.Agent, Run: a.Run, Tool: a.Tool, Sent: a.Sent, Digest: a.Digest,
		Level: a.Level.String(),
	}
}
