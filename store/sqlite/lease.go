package sqlite

import (
	"context"
	"time"
)

// Hold takes a lease or renews it, for ttl from now. It reports false while
// another owner has it: another desk of this process, or one that died before
// its time was up.
func (s *Store) Hold(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	return ask(ctx, s.writer, func(t *tx) (bool, error) {
		r, err := t.one(`SELECT owner FROM leases WHERE name = ? AND until_ms > ?`, name, t.ms())
		if err != nil || r != nil && r.text(0) != owner {
			return false, err
		}
		_, err = t.exec(`INSERT INTO leases (name, owner, until_ms) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms`, name, owner, t.now.Add(ttl).UnixMilli())
		return err == nil, err
	})
}

// Release gives a lease up, if it is the owner's.
func (s *Store) Release(ctx context.Context, name, owner string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM leases WHERE name = ? AND owner = ?`, name, owner)
		return err
	})
}
