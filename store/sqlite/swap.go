package sqlite

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Swap implements approval.Store.
func (s *Store) Swap(ctx context.Context, ch approval.Change) error {
	hash := ch.Conversation.Hash()
	return s.write(ctx, func(t *tx) error { return t.swap(hash, &ch) })
}

func (t *tx) swap(hash string, ch *approval.Change) error {
	k, err := t.one(`SELECT version, keep_ms FROM cards WHERE id = ? AND keep_ms > ?`, ch.ID, t.ms())
	switch {
	case err != nil:
		return err
	case k == nil:
		return approval.ErrGone
	case k.int(0) != ch.Version:
		return approval.ErrStale
	case !ch.NotAfter.IsZero() && t.now.After(ch.NotAfter):
		return approval.ErrLate
	}
	if len(ch.Grants) > 0 || len(ch.Waiting) > 0 {
		if c, err := t.conversation(hash, ""); err != nil || c == nil {
			return or(err, approval.ErrUnknown)
		}
	}
	keep := k.int(1)
	for digest, until := range ch.Waiting {
		if err := t.wait(hash, digest, ch.ID, until); err != nil {
			return err
		}
		keep = max(keep, until.Add(approval.Retention).UnixMilli())
	}
	for field, value := range ch.Grants {
		if err := t.grant(hash, field, value); err != nil {
			return err
		}
	}
	_, err = t.exec(`UPDATE cards SET version = version + 1, blob = ?, closed = closed OR ?, keep_ms = ? WHERE id = ?`,
		solid(ch.Blob), truth(ch.Closed), keep, ch.ID)
	t.woken = append(t.woken, ch.ID)
	return err
}

func (t *tx) grant(hash, field, value string) error {
	_, err := t.exec(`INSERT INTO grants (conversation, field, value, until_ms) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET value = excluded.value, until_ms = excluded.until_ms`, hash, field, value, grantEnd(value))
	return err
}

// grantEnd is when a grant ends, which stands first in its value; NULL if it
// does not say, and then the grant goes with its conversation.
func grantEnd(value string) any {
	end, _, _ := strings.Cut(value, "|")
	seconds, err := strconv.ParseInt(end, 10, 64)
	if err != nil {
		return nil
	}
	return time.Unix(seconds, 0).UnixMilli()
}

// Miss implements approval.Store.
func (s *Store) Miss(ctx context.Context, person string, window time.Duration, count bool) (int, error) {
	if !count {
		return ask(ctx, s.reader, func(t *tx) (int, error) {
			r, err := t.misses(person)
			return int(r.int(0)), err
		})
	}
	return ask(ctx, s.writer, func(t *tx) (int, error) { return t.miss(person, window) })
}

func (t *tx) miss(person string, window time.Duration) (int, error) {
	r, err := t.misses(person)
	if err != nil {
		return 0, err
	}
	until := t.now.Add(window).UnixMilli()
	if r != nil {
		until = r.int(1)
	}
	tries := r.int(0) + 1
	_, err = t.exec(`INSERT INTO misses (person, tries, until_ms) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET tries = excluded.tries, until_ms = excluded.until_ms`, person, tries, until)
	return int(tries), err
}

func (t *tx) misses(person string) (row, error) {
	return t.one(`SELECT tries, until_ms FROM misses WHERE person = ? AND until_ms > ?`, person, t.ms())
}

// Reset implements approval.Store.
func (s *Store) Reset(ctx context.Context, ref string) (session.Conversation, error) {
	return ask(ctx, s.writer, func(t *tx) (session.Conversation, error) { return t.reset(strings.ToLower(ref)) })
}

func (t *tx) reset(prefix string) (session.Conversation, error) {
	c, name, err := t.named(prefix)
	if err != nil {
		return session.Conversation{}, err
	}
	for _, q := range []string{
		`DELETE FROM levels WHERE conversation = ?`, `DELETE FROM grants WHERE conversation = ?`, `DELETE FROM influences WHERE conversation = ?`,
		`DELETE FROM secrets WHERE conversation = ?`,
	} {
		if _, err := t.exec(q, c.hash); err != nil {
			return session.Conversation{}, err
		}
	}
	c.levels, c.raised, c.worst, c.source = map[string]known{}, nil, taint.System, session.Source{}
	c.secrets = session.Exposure{}
	c.generation = max(t.ms(), c.generation+1) // also where the clock was set back since
	c.version++
	c.touch(t)
	return name, nil
}

// named finds the conversation whose state the one with this reference has.
func (t *tx) named(prefix string) (*conversation, session.Conversation, error) {
	var none session.Conversation
	// A hash is lower-case hex: what begins with the prefix lies between it and
	// it with a letter after f.
	found, err := t.all(`SELECT hash, client, session_key FROM conversations WHERE hash >= ? AND hash < ? LIMIT 2`, prefix, prefix+"g")
	switch {
	case err != nil:
		return nil, none, err
	case len(found) == 0:
		return nil, none, approval.ErrUnknown
	case len(found) > 1:
		return nil, none, approval.ErrAmbiguous
	}
	c, name, err := t.rootOf(session.Conversation{Client: found[0].text(1), Key: found[0].text(2)})
	if err != nil || c == nil {
		return nil, none, or(err, approval.ErrUnknown)
	}
	return c, name, nil
}
