package sqlite

import (
	"context"
	"fmt"

	"github.com/openclaw-verifier/verifier/store"
)

// compareEpochs tells a new database from one that has lost everything. The
// database is always written before the file: a crash in between reads as
// adopted or as lost, never as clean. A loss is left standing.
func (s *Store) compareEpochs(d *db) error {
	stored, err := storedEpoch(d)
	if err != nil {
		return err
	}
	switch s.epoch.Against(stored) {
	case store.Clean, store.Lost:
		return nil
	case store.Adopt:
		return s.epoch.Save(stored)
	case store.Fresh:
		id := store.NewEpochID()
		if err := keepEpoch(d, id); err != nil {
			return err
		}
		return s.epoch.Save(id)
	}
	return nil
}

func storedEpoch(d *db) (string, error) {
	r, err := d.one(`SELECT value FROM meta WHERE name = 'epoch'`)
	return r.text(0), err
}

func keepEpoch(d *db, id string) error {
	_, err := d.exec(`INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT DO UPDATE SET value = excluded.value`, id)
	return err
}

// lost compares again, whenever a conversation is born: a database can also be
// emptied while it is in use.
func (t *tx) lost() (bool, error) {
	stored, err := storedEpoch(t.db)
	return t.store.epoch.Against(stored) != store.Clean, err
}

// Lost reports whether the store has lost what it knew: it is not the one this
// state directory worked with before, and the owner has not accepted that yet.
func (s *Store) Lost(ctx context.Context) (bool, error) {
	return ask(ctx, s.reader, (*tx).lost)
}

// AcceptLoss begins a new epoch: from now on, a conversation that was never seen is
// a new one again. Those born since the loss stay as they are. Without a loss
// there is nothing to accept.
func (s *Store) AcceptLoss(ctx context.Context) error {
	id := store.NewEpochID()
	lost, err := ask(ctx, s.writer, func(t *tx) (bool, error) {
		lost, err := t.lost()
		if err != nil || !lost {
			return false, err
		}
		return true, keepEpoch(t.db, id)
	})
	if err != nil || !lost {
		return err
	}
	if err := s.epoch.Save(id); err != nil {
		return fmt.Errorf("store/sqlite: the loss stays: %w", err)
	}
	return nil
}
