package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
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
// is noted as one that can't be taken out.
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
		c.influence(sessionID, session.Influence{Level: own, Fixed: true}, now)
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

// Endorse implements approval.Store.
func (m *Model) Endorse(_ context.Context, ref string, number int64, vouch bool, last time.Time) (session.Endorsement, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.named(ref)
	if err != nil {
		return session.Endorsement{}, err
	}
	i := c.all().Find(number)
	if i < 0 {
		return session.Endorsement{}, approval.ErrNoSource
	}
	one := c.all()[i]
	id, e := one.Session, session.Endorsement{Conversation: c.name, Before: c.level(one.Session)}
	some := c.influences[id]
	at := some.Find(number)
	switch {
	case one.Last.UnixMilli() != last.UnixMilli():
		return session.Endorsement{}, approval.ErrAgain
	case vouch && one.Fixed:
		return session.Endorsement{}, approval.ErrFixed
	case vouch && one.Endorsed.IsZero():
		c.explain(id, m.Now())
		some = c.influences[id]
		some[at].Endorsed = m.Now()
		c.levels[id] = some.Lowered(c.levels[id])
		c.lowered(m.Now())
		clear(c.grants)
	case !vouch && !one.Endorsed.IsZero():
		some[at].Endorsed = time.Time{}
		if one.Level >= c.level(id) {
			c.source = session.Source{Label: one.Label, Level: one.Level, Step: one.Step}
		}
		c.raise(id, one.Level)
	}
	e.Influence, e.After = some[at], c.level(id)
	return e, nil
}

// lowered works out what the conversation is worth without what was taken out.
func (c *conversation) lowered(now time.Time) {
	c.worst, c.source = taint.System, session.Source{}
	for _, l := range c.levels {
		c.worst = taint.Worse(c.worst, l)
	}
	for _, i := range c.all() {
		if i.Endorsed.IsZero() && (i.Level > c.source.Level || i.Level == c.source.Level && i.Step >= c.source.Step) {
			c.source = session.Source{Label: i.Label, Level: i.Level, Step: i.Step}
		}
	}
	c.generation = max(now.UnixMilli(), c.generation+1)
	c.version++
}

// endorse compares what the owner's word about a source does.
func (m *machine) endorse(t *rapid.T) {
	ref := drawConversation(t, "conversation").Ref()
	got, errGot := m.Store.Influences(m.ctx, ref)
	want, errWant := m.model.Influences(m.ctx, ref)
	m.same(t, "influences", got, want, errGot, errWant)
	if errWant != nil {
		return
	}
	number := int64(rapid.IntRange(1, len(want.Influences)+2).Draw(t, "number"))
	vouch := rapid.IntRange(0, 3).Draw(t, "vouch") > 0
	ours, theirs := time.UnixMilli(1), time.UnixMilli(1)
	if i := want.Influences.Find(number); i >= 0 && rapid.IntRange(0, 9).Draw(t, "again") > 0 {
		ours, theirs = got.Influences[i].Last, want.Influences[i].Last
	}
	one, errGot := m.Store.Endorse(m.ctx, ref, number, vouch, ours)
	other, errWant := m.model.Endorse(m.ctx, ref, number, vouch, theirs)
	m.same(t, "endorse", one, other, errGot, errWant)
}
