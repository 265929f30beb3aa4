package sqlite

import (
	"bytes"
	"context"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Settle implements verifier.Store.
func (s *Store) Settle(ctx context.Context, m session.Settlement) (session.Settled, error) {
	hash := m.Conversation.Hash()
	return admits(ctx, s.writer, func(t *tx) (session.Settled, error) { return t.settle(hash, &m) })
}

func (t *tx) settle(hash string, m *session.Settlement) (session.Settled, error) {
	if stand, differ, err := t.braked(&m.Brake); err != nil || differ {
		return session.Settled{State: session.Halted, View: session.View{Paused: stand}}, err
	}
	c, err := t.conversation(hash, m.Session)
	if err != nil {
		return session.Settled{}, err
	}
	if c == nil || c.root != nil { // gone, or it lives elsewhere since it was judged
		v := session.View{Lost: true, Level: taint.Untrusted, After: taint.Untrusted, Now: t.now}
		return session.Settled{State: session.Stale, View: v}, nil
	}
	v := c.view(m.Session, t.now)
	r, err := t.request(hash, m.RequestID)
	if err != nil {
		return session.Settled{}, err
	}
	if standing, decided := r.decided(m); decided {
		v.Standing = standing
		return session.Settled{State: session.Decided, View: v}, nil
	}
	if c.version != m.Version {
		v.Secret, err = t.secret(c, m.Session)
		return session.Settled{State: session.Stale, View: v}, err
	}
	claimed, err := t.claim(m.Claim)
	if err != nil {
		return session.Settled{}, err
	}
	if !claimed {
		return session.Settled{State: session.Taken, View: v}, nil
	}
	if err := t.influence(c, m.Session, session.Influence{Label: m.Source, Level: m.Raise}); err != nil {
		return session.Settled{}, err
	}
	c.bringIn(m.Session, m.Raise, m.Source)
	if err := t.expose(c, m.Session, m.Secret); err != nil {
		return session.Settled{}, err
	}
	c.touch(t)
	v.After, v.Version, v.Worst = c.level(m.Session), c.version, c.source
	return session.Settled{State: session.Done, View: v}, t.decide(hash, m.RequestID, m.Body, m.Standing, m.Keep)
}

// Deny implements verifier.Store: all of them share a transaction.
func (s *Store) Deny(ctx context.Context, denials ...session.Denial) error {
	_, err := ask(ctx, s.writer, func(t *tx) (struct{}, error) {
		for i := range denials {
			if err := t.deny(&denials[i]); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

// deny keeps a request as denied, unless it has a decision or its conversation is
// gone.
func (t *tx) deny(d *session.Denial) error {
	hash := d.Conversation.Hash()
	there, err := t.exists(hash)
	if err != nil || !there {
		return err
	}
	_, err = t.exec(`INSERT INTO requests (conversation, request, body, mark, until_ms) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET body = excluded.body, mark = excluded.mark, until_ms = excluded.until_ms
		WHERE requests.until_ms <= ? OR requests.mark = ? AND requests.body = excluded.body`,
		hash, d.RequestID, d.Body[:], session.MarkDenied, t.now.Add(d.Keep).UnixMilli(), t.ms(), session.MarkPending)
	return err
}

// decided is the decision that stands already for a settlement's request.
func (r *request) decided(m *session.Settlement) (standing string, decided bool) {
	switch {
	case r == nil:
		return "", false
	case !bytes.Equal(r.body, m.Body[:]):
		return session.MarkDenied, true
	default:
		return r.mark, r.mark != session.MarkPending
	}
}
