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
	return ask(ctx, s.writer, func(t *tx) (session.Settled, error) { return t.settle(hash, &m) })
}

func (t *tx) settle(hash string, m *session.Settlement) (session.Settled, error) {
	if stand, differ, err := t.braked(&m.Brake); err != nil || differ && m.Allow {
		return session.Settled{State: session.Halted, View: session.View{Paused: stand}}, err
	}
	c, err := t.conversation(hash, m.Session)
	if err != nil {
		return session.Settled{}, err
	}
	if c == nil || c.root != nil && m.Allow { // gone, or it lives elsewhere since it was judged
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
	mark := session.MarkDenied
	if m.Allow {
		if c.version != m.Version {
			return session.Settled{State: session.Stale, View: v}, nil
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
		mark = m.Standing
	}
	c.touch(t)
	v.After, v.Version, v.Worst = c.level(m.Session), c.version, c.source
	return session.Settled{State: session.Done, View: v}, t.decide(hash, m.RequestID, m.Body, mark, m.Keep)
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
