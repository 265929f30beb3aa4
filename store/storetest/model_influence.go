package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// influence notes who had a say. What is better than shared is not kept.
func (c *conversation) influence(sessionID string, i session.Influence, now time.Time) {
	if i.Level < session.Least {
		return
	}
	all := c.influences[sessionID]
	i.Session, i.Last, i.Step = sessionID, now, c.step
	_ = all.Add(i, func() (int64, error) { // it never fails here
		c.counted++
		return c.counted, nil
	})
	c.influences[sessionID] = all
}

// raiseBy raises a level by what has no name: what its influences do not explain
// is noted as one without a label.
func (c *conversation) raiseBy(sessionID string, to taint.Level, now time.Time) {
	had, known := c.levels[sessionID]
	if known && to <= had {
		return
	}
	c.raise(sessionID, to)
	c.explain(sessionID, now)
}

func (c *conversation) explain(sessionID string, now time.Time) {
	if own := c.levels[sessionID]; own > c.influences[sessionID].Worst() {
		c.influence(sessionID, session.Influence{Level: own}, now)
	}
}

// Influences implements approval.Store.
func (m *Model) Influences(_ context.Context, ref string) (session.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.named(ref)
	if err != nil {
		return session.Account{}, err
	}
	return session.Account{Conversation: c.name, Level: c.worst, Influences: c.all()}, nil
}

func (c *conversation) all() (all session.Influences) {
	for _, some := range c.influences {
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b session.Influence) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// DropSource implements verifier.Store.
func (m *Model) DropSource(_ context.Context, of session.Conversation, number int64, last time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.named(of.Hash())
	if err != nil {
		return err
	}
	for id, some := range c.influences {
		if i := some.Find(number); i >= 0 && some[i].Last.UnixMilli() == last.UnixMilli() {
			c.influences[id] = slices.Delete(some, i, i+1)
		}
	}
	return nil
}

// drop compares what becomes of a source that is dropped.
func (m *machine) drop(t *rapid.T) {
	c := drawConversation(t, "conversation")
	got, errGot := m.Store.Influences(m.ctx, c.Ref())
	want, errWant := m.model.Influences(m.ctx, c.Ref())
	m.same(t, "influences", got, want, errGot, errWant)
	if errWant != nil {
		return
	}
	number := int64(rapid.IntRange(1, len(want.Influences)+2).Draw(t, "number"))
	ours, theirs := time.UnixMilli(1), time.UnixMilli(1)
	if i := want.Influences.Find(number); i >= 0 && rapid.IntRange(0, 9).Draw(t, "again") > 0 {
		ours, theirs = got.Influences[i].Last, want.Influences[i].Last
	}
	errGot = m.Store.DropSource(m.ctx, c, number, ours)
	errWant = m.model.DropSource(m.ctx, c, number, theirs)
	m.same(t, "drop", nil, nil, errGot, errWant)
}
