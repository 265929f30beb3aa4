package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Grants implements approval.Store.
func (s *Store) Grants(ctx context.Context, conversation string, most int) ([]approval.StoredGrant, time.Time, error) {
	type answer struct {
		grants []approval.StoredGrant
		now    time.Time
	}
	a, err := ask(ctx, s.reader, func(t *tx) (answer, error) {
		grants, err := t.unended(conversation, most)
		return answer{grants, t.now}, err
	})
	return a.grants, a.now, err
}

func (t *tx) unended(conversation string, most int) ([]approval.StoredGrant, error) {
	const list = `SELECT conversation, field, value FROM grants WHERE until_ms > ? `
	const order = `ORDER BY until_ms DESC, conversation, field LIMIT ?`
	query, args := list+order, []driver.Value{t.ms(), int64(most)}
	if conversation != "" {
		query, args = list+`AND conversation = ? `+order, []driver.Value{t.ms(), conversation, int64(most)}
	}
	rows, err := t.all(query, args...)
	out := make([]approval.StoredGrant, 0, len(rows))
	for _, r := range rows {
		out = append(out, approval.StoredGrant{Conversation: r.text(0), Field: r.text(1), Value: r.text(2)})
	}
	return out, err
}

// Revoke implements approval.Store.
func (s *Store) Revoke(ctx context.Context, conversation string, fields ...string) (int, error) {
	return ask(ctx, s.writer, func(t *tx) (int, error) { return t.revoke(conversation, fields) })
}

func (t *tx) revoke(hash string, fields []string) (int, error) {
	ended, err := t.end(hash, fields)
	if err != nil || ended == 0 {
		return 0, err
	}
	c, err := t.conversation(hash, "")
	if err == nil && c != nil {
		c.version++
		c.changed = true
	}
	return int(ended), err
}

// end deletes grants.
func (t *tx) end(hash string, fields []string) (ended int64, err error) {
	if len(fields) == 0 {
		return t.exec(`DELETE FROM grants WHERE conversation = ?`, hash)
	}
	for _, field := range fields {
		n, err := t.exec(`DELETE FROM grants WHERE conversation = ? AND field = ?`, hash, field)
		if err != nil {
			return 0, err
		}
		ended += n
	}
	return ended, nil
}
