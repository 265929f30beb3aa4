package sqlite

import (
	"bytes"
	"context"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Hear implements verifier.Store.
func (s *Store) Hear(ctx context.Context, r session.Report) (session.Heard, error) {
	hash := r.Conversation.Hash()
	return admits(ctx, s.writer, func(t *tx) (session.Heard, error) { return t.hear(hash, &r) })
}

func (t *tx) hear(hash string, r *session.Report) (session.Heard, error) {
	h := session.Heard{Now: t.now}
	c, err := t.conversation(hash, r.Session)
	if err != nil {
		return h, err
	}
	if c != nil && c.root != nil {
		t.stillUsed(c)
		h.Moved, h.Root = true, *c.root
		return h, nil
	}
	before, err := t.request(hash, r.RequestID)
	if err != nil || before != nil && !bytes.Equal(before.body, r.Body[:]) {
		h.Conflict = true
		return h, err
	}
	if h.Replayed = before != nil; !h.Replayed {
		if err := t.heed(hash, r); err != nil {
			return h, err
		}
	}
	if c == nil && (h.Replayed || !r.Brings()) {
		return t.unmet(hash, h)
	}
	if c == nil {
		var b birth
		if c, b, err = t.born(r.Conversation, hash); err != nil {
			return h, err
		}
		h.Lost = b.bad()
	} else {
		h.Known = r.Session == "" || c.levels[r.Session].is
	}
	h.Before = c.level(r.Session)
	if !h.Replayed {
		if err := t.ratchet(c, r, h.Known); err != nil {
			return h, err
		}
	}
	h.Level, h.Step, h.Version, h.Generation, h.Worst = c.level(r.Session), c.step, c.version, c.generation, c.source
	return h, nil
}

// heed keeps what does not need the conversation: that the report came, and that
// a run is over.
func (t *tx) heed(hash string, r *session.Report) error {
	if err := t.decide(hash, r.RequestID, r.Body, session.MarkDenied, r.Keep); err != nil || r.Halted == "" {
		return err
	}
	_, err := t.exec(`INSERT INTO runs (conversation, run, calls, touched_ms) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET calls = excluded.calls, touched_ms = excluded.touched_ms`, hash, r.Halted, int64(session.HaltedCalls), t.ms())
	return err
}

// unmet is what is heard of a conversation that is not there, and that does not
// come into being by the report.
func (t *tx) unmet(hash string, h session.Heard) (session.Heard, error) {
	known, err := t.one(`SELECT 1 FROM known WHERE conversation = ?`, hash)
	if err != nil {
		return h, err
	}
	if h.Lost, err = t.lost(); err != nil {
		return h, err
	}
	if h.Lost = h.Lost || known != nil; h.Lost {
		h.Before, h.Level = taint.Untrusted, taint.Untrusted
	}
	return h, nil
}

// ratchet makes the level as bad as the report says, and ends grants.
func (t *tx) ratchet(c *conversation, r *session.Report, known bool) error {
	c.touch(t)
	if r.Brings() {
		own := r.Raise
		if !known {
			own = taint.Worse(own, r.Birth)
		}
		if own > c.level(r.Session) {
			c.source = session.Source{Label: r.Source, Level: own, Step: c.step}
		}
		c.raise(r.Session, own)
		if err := t.influence(c, r.Session, session.Influence{Label: r.Source, Level: own, Fixed: !r.Tool || own > r.Raise}); err != nil {
			return err
		}
	}
	if err := t.expose(c, r.Session, r.Secret); err != nil {
		return err
	}
	if r.Next != "" {
		if err := t.handOn(c, r.Session, r.Next); err != nil {
			return err
		}
	}
	var closed, ended int64
	var err error
	if r.Closed {
		closed, err = t.endMarked(c, 1, r.Window)
	}
	if err == nil && r.Ended != "" {
		ended, err = t.endMarked(c, session.MarkSize+1, r.Ended)
	}
	if closed+ended > 0 { // what was judged with one of them is stale
		c.version++
	}
	return err
}

// handOn lets the session id that follows another start with its level and with
// the secrets that it has read.
func (t *tx) handOn(c *conversation, from, next string) error {
	if level := c.level(from); level > taint.System {
		if err := t.readLevel(c, next); err != nil {
			return err
		}
		if err := t.raiseBy(c, next, level); err != nil {
			return err
		}
	}
	secret, err := t.secret(c, from)
	if err != nil {
		return err
	}
	return t.expose(c, next, secret)
}

// endMarked ends the grants whose field has the mark of a name at a place.
func (t *tx) endMarked(c *conversation, at int, name string) (int64, error) {
	return t.exec(`DELETE FROM grants WHERE conversation = ? AND substr(field, ?, ?) = ?`,
		c.hash, int64(at), int64(session.MarkSize), session.GrantMark(name))
}
