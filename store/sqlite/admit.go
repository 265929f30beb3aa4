package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Admit implements verifier.Store.
func (s *Store) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	at := a.At()
	hash := hex.EncodeToString(at[:])
	return admits(ctx, s.writer, func(t *tx) (session.View, error) { return t.admit(hash, &a) })
}

func (t *tx) admit(hash string, a *session.Admission) (session.View, error) {
	if stand, differ, err := t.braked(&a.Brake); err != nil || differ {
		return session.View{Entry: session.Braked, Paused: stand}, err
	}
	c, err := t.conversation(hash, a.Session)
	if err != nil {
		return session.View{}, err
	}
	if c != nil && c.root != nil {
		t.stillUsed(c)
		return session.View{Entry: session.Moved, Root: *c.root, Now: t.now}, nil
	}
	var b birth
	if c == nil {
		if r, err := t.request(hash, a.RequestID); err != nil || r != nil {
			return t.again(nil, r, a), err
		}
		if c, b, err = t.born(a.Conversation, hash); err != nil {
			return session.View{}, err
		}
	}
	return t.enter(c, a, b.bad())
}

// enter lets a request into a conversation. What it will be told follows from
// what is known already, so the request can be written first, and only that
// tells whether it is new: no look before it is needed.
func (t *tx) enter(c *conversation, a *session.Admission, lost bool) (session.View, error) {
	calls, err := t.count(c.hash, a)
	if err != nil {
		return session.View{}, err
	}
	least := a.Counted(calls)
	if a.Leaves && a.Final {
		if _, err := t.exposure(c); err != nil { // which entering looks at
			return session.View{}, err
		}
	}
	e := c.entering(a, lost, least)
	isNew, err := t.firstTime(c, a, &e)
	if err != nil {
		return session.View{}, err
	}
	var v session.View
	if isNew {
		if v, err = t.let(c, a, &e); err != nil {
			return session.View{}, err
		}
		v.Lost, v.Capped = lost, least > taint.Allow
	} else if v, err = t.replay(c, a); err != nil {
		return session.View{}, err
	}
	if v.Entry == session.Held {
		if v.Secret, err = t.secret(c, a.Session); err != nil {
			return session.View{}, err
		}
		v.Grants, v.Waiting, err = t.consents(c.hash, a)
	}
	return v, err
}

// entry is what an admission comes to.
type entry struct {
	own   taint.Level // the session's own level from now on
	mode  taint.Mode
	entry session.Entry
	mark  string

	sourceStep int64 // of the conversation from now on, if its level stays
}

// entering says what an admission comes to and changes nothing. least is how
// strict the count of the run's calls wants it.
func (c *conversation) entering(a *session.Admission, lost bool, least taint.Mode) entry {
	e := entry{own: c.arriving(a, lost), mode: taint.Restrict, mark: session.MarkPending, sourceStep: c.source.Step}
	sees := c.levelWith(a.Session, e.own)
	if !a.Brake.On {
		e.mode = max(a.Modes[sees], least)
	}
	switch {
	case e.mode == taint.Restrict:
		e.entry, e.mark = session.Refused, session.MarkDenied
	case e.mode == taint.Allow && a.Final && (!a.Leaves || c.secrets.Of(a.Session) == "" && c.generation == 0):
		e.entry, e.mark = session.Passed, a.Standing
		if leads(a.Raise, sees) {
			e.sourceStep = c.step + 1
		}
	}
	return e
}

// let is the change that an admission makes: ratchet, count, and what an
// allowed call brings in.
func (t *tx) let(c *conversation, a *session.Admission, e *entry) (session.View, error) {
	c.step++
	c.touched = t.ms()
	if a.Initial > c.level(a.Session) { // and then it rises
		c.source = session.Source{Label: a.Sender, Level: a.Initial, Step: c.step}
	}
	keep := a.Note || a.Floor.Generation != c.generation
	if keep || a.Initial > c.levels[a.Session].level {
		if err := t.influence(c, a.Session, session.Influence{Label: a.Sender, Level: a.Initial, Fixed: true}); err != nil {
			return session.View{}, err
		}
	}
	if err := t.raiseBy(c, a.Session, e.own); err != nil {
		return session.View{}, err
	}
	v := c.view(a.Session, t.now)
	v.Entry, v.Mode = e.entry, e.mode
	if e.entry == session.Passed {
		if keep || a.Raise > c.levels[a.Session].level {
			if err := t.influence(c, a.Session, session.Influence{Label: a.Source, Level: a.Raise}); err != nil {
				return session.View{}, err
			}
		}
		c.bringIn(a.Session, a.Raise, a.Source)
	}
	v.After, v.Version, v.Worst = c.level(a.Session), c.version, c.source
	return v, nil
}

// arriving is what the session's own level is worth with this call: the worst
// of what stood there, what started the run, and what anyone has seen.
func (c *conversation) arriving(a *session.Admission, lost bool) taint.Level {
	own := taint.Worse(c.levels[a.Session].level, a.Initial)
	if c.step == 0 {
		own = taint.Worse(own, a.Birth)
	}
	if a.Floor.Generation >= c.generation && a.Floor.Level > c.level(a.Session) {
		own = taint.Worse(own, a.Floor.Level)
	}
	if lost {
		own = taint.Untrusted
	}
	return own
}

// replay is the answer to a request that turned out to be known: what was
// counted for it is taken back.
func (t *tx) replay(c *conversation, a *session.Admission) (session.View, error) {
	calls, err := t.uncount(c.hash, a)
	if err != nil {
		return session.View{}, err
	}
	r, err := t.request(c.hash, a.RequestID)
	if err != nil {
		return session.View{}, err
	}
	v := t.again(c, r, a)
	if least := a.Counted(calls); v.Entry == session.Held {
		v.Mode, v.Capped = max(v.Mode, least), least > taint.Allow
	}
	return v, nil
}

// again answers a request that was admitted before.
func (t *tx) again(c *conversation, r *request, a *session.Admission) session.View {
	if r == nil || !bytes.Equal(r.body, a.Body[:]) {
		return session.View{Entry: session.Conflict, Now: t.now}
	}
	if c == nil { // the state went away under the request: nothing it said stands
		return session.View{
			Entry: session.Held, Replayed: true, Lost: true,
			Level: taint.Untrusted, After: taint.Untrusted, Mode: a.Modes[taint.Untrusted], Now: t.now,
		}
	}
	v := c.view(a.Session, t.now)
	v.Replayed, v.Mode = true, a.Modes[v.Level]
	switch r.mark {
	case session.MarkPending:
		v.Entry = session.Held
	case session.MarkDenied:
		v.Entry, v.Standing = session.Refused, r.mark
	default:
		v.Entry, v.Standing = session.Passed, r.mark
	}
	return v
}

// consents finds what could still let a held call pass.
func (t *tx) consents(hash string, a *session.Admission) (grants []string, card string, err error) {
	for _, field := range a.Grants {
		r, err := t.one(`SELECT value FROM grants WHERE conversation = ? AND field = ?`, hash, field)
		if err != nil {
			return nil, "", err
		}
		if r != nil {
			grants = append(grants, r.text(0))
		}
	}
	r, err := t.waiting(hash, a.Digest)
	return grants, r.text(0), err
}
