package redis

import (
	"context"
	"fmt"

	"github.com/openclaw-verifier/verifier/session"
)

// noteKey finds a list by its name alone: it begins with its bucket.
func noteKey(list string) (string, error) {
	if len(list) < 2 || !isHex(list[:2]) {
		return "", fmt.Errorf("redis: %q is no name of a list", list)
	}
	return bucketPrefix(list[:2]) + "j:" + list, nil
}

// Note implements verifier.Store.
func (s *Store) Note(ctx context.Context, notes ...session.Note) error {
	ctx, cancel, err := s.begin(ctx, "note")
	if err != nil {
		return err
	}
	defer cancel()
	for _, n := range notes {
		key, err := noteKey(n.List)
		if err != nil {
			return err
		}
		if len(n.Entries) == 0 {
			continue
		}
		args := []any{n.Most, life(n.Keep)}
		for _, e := range n.Entries {
			args = append(args, e)
		}
		args = append(args, s.floor())
		if err := noteScript.Run(ctx, s.client, []string{key}, args...).Err(); err != nil {
			return wrap("note", err)
		}
	}
	return nil
}

// Notes implements verifier.Store.
func (s *Store) Notes(ctx context.Context, list string) ([][]byte, error) {
	ctx, cancel, err := s.begin(ctx, "notes")
	if err != nil {
		return nil, err
	}
	defer cancel()
	key, err := noteKey(list)
	if err != nil {
		return nil, err
	}
	found, err := notesScript.Run(ctx, s.client, []string{key}, s.floor()).StringSlice()
	if err != nil {
		return nil, wrap("notes", err)
	}
	entries := make([][]byte, len(found))
	for i, e := range found {
		entries[i] = []byte(e)
	}
	return entries, nil
}
