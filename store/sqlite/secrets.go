package sqlite

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// exposure is what was read in a conversation that holds secrets. It is remembered
// with the conversation.
func (t *tx) exposure(c *conversation) (session.Exposure, error) {
	if c.secrets != nil {
		return c.secrets, nil
	}
	rows, err := t.all(`SELECT session, what FROM secrets WHERE conversation = ?`, c.hash)
	if err != nil {
		return nil, err
	}
	c.secrets = session.Exposure{}
	for _, r := range rows {
		c.secrets[r.text(0)] = r.text(1)
	}
	return c.secrets, nil
}

// secret is what a session id of a conversation knows.
func (t *tx) secret(c *conversation, sessionID string) (string, error) {
	e, err := t.exposure(c)
	return e.Of(sessionID), err
}

// expose notes that a secret was read: what was judged before is stale.
func (t *tx) expose(c *conversation, sessionID, secret string) error {
	if secret == "" {
		return nil
	}
	e, err := t.exposure(c)
	if err != nil {
		return err
	}
	if e.Add(sessionID, secret) {
		c.version++
		c.changed = true
	}
	for _, id := range []string{sessionID, session.AnySession} {
		if _, err := t.exec(`INSERT INTO secrets (conversation, session, what) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, c.hash, id, e[id]); err != nil {
			return err
		}
	}
	return nil
}

// Expose implements verifier.Store.
func (s *Store) Expose(ctx context.Context, name session.Conversation, secret string) error {
	_, err := admits(ctx, s.writer, func(t *tx) (struct{}, error) { return struct{}{}, t.exposeRoot(name, secret) })
	return err
}

// exposedAgain is after how long it is written again that a conversation knows a secret, so that it is kept. A workspace is exposed by each write.
const exposedAgain = time.Hour

func (t *tx) exposeRoot(name session.Conversation, secret string) error {
	if secret == "" {
		return nil
	}
	c, err := t.rootOrBorn(name)
	if err != nil {
		return err
	}
	e, err := t.exposure(c)
	if err != nil || e[""] != "" && t.now.Sub(at(c.touched)) < exposedAgain {
		return err
	}
	c.touch(t)
	return t.expose(c, "", secret)
}

// Exposed implements verifier.Store.
func (s *Store) Exposed(ctx context.Context, name session.Conversation) (string, error) {
	return ask(ctx, s.reader, func(t *tx) (string, error) {
		c, _, err := t.rootOf(name)
		if err != nil || c == nil {
			return "", err
		}
		return t.secret(c, "")
	})
}
