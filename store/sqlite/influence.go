package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// errInfluences undoes the transaction: the call may have been let in already.
var errInfluences error = &fault{errors.New("what influences a conversation can't be read")}

// influence notes who had a say. What is better than shared is not kept.
func (t *tx) influence(c *conversation, sessionID string, i session.Influence) error {
	if i.Level < session.Least {
		return nil
	}
	all, err := t.influences(c.hash, sessionID)
	if err != nil {
		return err
	}
	i.Session, i.Last, i.Step = sessionID, t.now, c.step
	err = all.Add(i, func() (int64, error) {
		r, err := t.one(`UPDATE conversations SET influences = influences + 1 WHERE hash = ? RETURNING influences`, c.hash)
		return r.int(0), err
	})
	if err != nil {
		return err
	}
	return t.keepInfluences(c.hash, sessionID, all)
}

func (t *tx) influences(hash, sessionID string) (session.Influences, error) {
	r, err := t.one(`SELECT list FROM influences WHERE conversation = ? AND session = ?`, hash, sessionID)
	if err != nil {
		return nil, err
	}
	all, ok := session.ParseInfluences(sessionID, r.text(0))
	if !ok {
		return nil, errInfluences
	}
	return all, nil
}

func (t *tx) keepInfluences(hash, sessionID string, all session.Influences) error {
	_, err := t.exec(`INSERT INTO influences (conversation, session, list) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET list = excluded.list`, hash, sessionID, all.String())
	return err
}

// raiseBy raises a level by what has no name: what its influences do not explain
// is noted as one that can't be taken out.
func (t *tx) raiseBy(c *conversation, sessionID string, to taint.Level) error {
	if had := c.levels[sessionID]; had.is && to <= had.level {
		return nil
	}
	c.raise(sessionID, to)
	return t.explain(c, sessionID)
}

func (t *tx) explain(c *conversation, sessionID string) error {
	own := c.levels[sessionID].level
	if own < session.Least {
		return nil
	}
	all, err := t.influences(c.hash, sessionID)
	if err != nil || own <= all.Worst() {
		return err
	}
	return t.influence(c, sessionID, session.Influence{Level: own, Fixed: true})
}

// Influences implements approval.Store.
func (s *Store) Influences(ctx context.Context, ref string) (session.Account, error) {
	return ask(ctx, s.reader, func(t *tx) (session.Account, error) {
		c, name, err := t.named(strings.ToLower(ref))
		if err != nil {
			return session.Account{}, err
		}
		all, err := t.everyInfluence(c.hash)
		return session.Account{Conversation: name, Level: c.worst, Influences: all}, err
	})
}

// everyInfluence is those of all session ids, by their numbers.
func (t *tx) everyInfluence(hash string) (all session.Influences, err error) {
	rows, err := t.all(`SELECT session, list FROM influences WHERE conversation = ?`, hash)
	for _, r := range rows {
		some, ok := session.ParseInfluences(r.text(0), r.text(1))
		if !ok {
			return nil, errInfluences
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b session.Influence) int { return cmp.Compare(a.Number, b.Number) })
	return all, err
}

// Endorse implements approval.Store.
func (s *Store) Endorse(ctx context.Context, ref string, number int64, vouch bool, last time.Time) (session.Endorsement, error) {
	return ask(ctx, s.writer, func(t *tx) (session.Endorsement, error) {
		return t.endorse(strings.ToLower(ref), number, vouch, last)
	})
}

func (t *tx) endorse(prefix string, number int64, vouch bool, last time.Time) (none session.Endorsement, _ error) {
	c, name, err := t.named(prefix)
	if err != nil {
		return none, err
	}
	all, err := t.everyInfluence(c.hash)
	if err != nil {
		return none, err
	}
	at := all.Find(number)
	if at < 0 {
		return none, approval.ErrNoSource
	}
	one := all[at]
	if err := t.readLevel(c, one.Session); err != nil {
		return none, err
	}
	e := session.Endorsement{Conversation: name, Before: c.level(one.Session)}
	switch {
	case one.Last.UnixMilli() != last.UnixMilli():
		return none, approval.ErrAgain
	case vouch && one.Fixed:
		return none, approval.ErrFixed
	case vouch && one.Endorsed.IsZero():
		one.Endorsed = t.now
		err = t.takeOut(c, &one)
	case !vouch && !one.Endorsed.IsZero():
		one.Endorsed = time.Time{}
		err = t.takeIn(c, &one)
	}
	e.Influence, e.After = one, c.level(one.Session)
	return e, err
}

// takeOut lowers the level to what the others make it, and ends grants: one that
// was given before the source had a say would cover again, for an agent that has
// read it.
func (t *tx) takeOut(c *conversation, one *session.Influence) error {
	if err := t.explain(c, one.Session); err != nil {
		return err
	}
	some, err := t.replaceInfluence(c.hash, one)
	if err != nil {
		return err
	}
	own := some.Lowered(c.levels[one.Session].level)
	c.setLevel(one.Session, own)
	if err := t.flushLevels(c); err != nil { // also of others in this transaction
		return err
	}
	r, err := t.one(`SELECT max(level) FROM levels WHERE conversation = ?`, c.hash)
	if err != nil {
		return err
	}
	all, err := t.everyInfluence(c.hash)
	c.worst, c.source = r.level(0), session.Source{}
	for _, i := range all {
		if i.Endorsed.IsZero() && (i.Level > c.source.Level || i.Level == c.source.Level && i.Step >= c.source.Step) {
			c.source = session.Source{Label: i.Label, Level: i.Level, Step: i.Step}
		}
	}
	if err != nil {
		return err
	}
	c.generation = max(t.ms(), c.generation+1)
	c.version++
	c.touch(t)
	_, err = t.end(c.hash, nil)
	return err
}

// takeIn raises it again.
func (t *tx) takeIn(c *conversation, one *session.Influence) error {
	_, err := t.replaceInfluence(c.hash, one)
	if one.Level >= c.level(one.Session) {
		c.source = session.Source{Label: one.Label, Level: one.Level, Step: one.Step}
	}
	c.raise(one.Session, one.Level)
	c.touch(t)
	return err
}

func (t *tx) replaceInfluence(hash string, one *session.Influence) (session.Influences, error) {
	some, err := t.influences(hash, one.Session)
	if err != nil {
		return nil, err
	}
	at := some.Find(one.Number)
	if at < 0 {
		return nil, errInfluences
	}
	some[at] = *one
	return some, t.keepInfluences(hash, one.Session, some)
}
