package sqlite

import (
	"context"

	"github.com/openclaw-verifier/verifier/session"
)

// Note implements verifier.Store.
func (s *Store) Note(ctx context.Context, notes ...session.Note) error {
	_, err := admits(ctx, s.writer, func(t *tx) (struct{}, error) {
		for i := range notes {
			if err := t.note(&notes[i]); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

func (t *tx) note(n *session.Note) error {
	if len(n.Entries) == 0 {
		return nil
	}
	until := t.now.Add(n.Keep).UnixMilli()
	for _, e := range n.Entries {
		if _, err := t.exec(`INSERT INTO notes (list, entry, until_ms) VALUES (?, ?, ?)`, n.List, solid(e), until); err != nil {
			return err
		}
	}
	_, err := t.exec(`DELETE FROM notes WHERE list = ?1 AND number <=
		(SELECT number FROM notes WHERE list = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`, n.List, int64(n.Most))
	return err
}

// Notes implements verifier.Store.
func (s *Store) Notes(ctx context.Context, list string) ([][]byte, error) {
	return ask(ctx, s.reader, func(t *tx) (entries [][]byte, err error) {
		rows, err := t.all(`SELECT entry FROM notes WHERE list = ? AND until_ms > ? ORDER BY number`, list, t.ms())
		for _, r := range rows {
			entries = append(entries, solid(r.bytes(0)))
		}
		return entries, err
	})
}
