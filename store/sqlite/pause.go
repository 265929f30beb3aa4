package sqlite

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// Pause implements approval.Store.
func (s *Store) Pause(ctx context.Context, scope, word string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO pauses (scope, word) VALUES (?, ?) ON CONFLICT DO UPDATE SET word = excluded.word`, scope, word)
		if err != nil {
			return err
		}
		t.pauses = nil // the next reader in this transaction looks again
		t.woken = append(t.woken, approval.PauseWake)
		return nil
	})
}

// Pauses implements approval.Store.
func (s *Store) Pauses(ctx context.Context) (map[string]string, error) {
	return ask(ctx, s.reader, func(t *tx) (map[string]string, error) { return readPauses(t.db) })
}

func readPauses(d *db) (map[string]string, error) {
	rows, err := d.all(`SELECT scope, word FROM pauses`)
	words := make(map[string]string, len(rows))
	for _, r := range rows {
		words[r.text(0)] = r.text(1)
	}
	return words, err
}

// braked reports that the pauses are not what a brake says, and gives them. The
// calls of one group look once.
func (t *tx) braked(b *session.Brake) (stand [2]string, differ bool, err error) {
	if t.pauses == nil {
		if t.pauses, err = readPauses(t.db); err != nil {
			return stand, false, err
		}
	}
	stand = [2]string{t.pauses[session.AllAgents], t.pauses[b.Agent]}
	return stand, stand != [2]string{b.All, b.Own}, nil
}

// Spend implements approval.Store.
func (s *Store) Spend(ctx context.Context, agent string, most int, window time.Duration) (approval.Spending, error) {
	return ask(ctx, s.writer, func(t *tx) (approval.Spending, error) { return t.spend(agent, most, window) })
}

func (t *tx) spend(agent string, most int, window time.Duration) (approval.Spending, error) {
	since := t.now.Add(-window).UnixMilli()
	asked, err := t.all(`SELECT asked_ms FROM questions WHERE agent = ? AND asked_ms > ? ORDER BY asked_ms`, agent, since)
	if err != nil {
		return approval.Spending{}, err
	}
	if len(asked) >= most {
		return t.turnAway(agent, asked, most, window)
	}
	if _, err := t.exec(`INSERT INTO questions (agent, asked_ms) VALUES (?, ?)`, agent, t.ms()); err != nil {
		return approval.Spending{}, err
	}
	_, err = t.exec(`DELETE FROM questions WHERE agent = ? AND asked_ms <= ?`, agent, since)
	return approval.Spending{OK: err == nil}, err
}

// turnAway says when there is room, and notes that it was said.
func (t *tx) turnAway(agent string, asked []row, most int, window time.Duration) (approval.Spending, error) {
	out := approval.Spending{Room: t.now.Add(window)}
	if i := len(asked) - most; i < len(asked) {
		out.Room = at(asked[i].int(0)).Add(window) // with that one gone, there is room
	}
	told, err := t.exec(`INSERT INTO refusals (agent, told_ms) VALUES (?, ?)
		ON CONFLICT DO UPDATE SET told_ms = excluded.told_ms WHERE refusals.told_ms <= ?`, agent, t.ms(), t.now.Add(-window).UnixMilli())
	out.First = told == 1
	return out, err
}

// Refund implements approval.Store.
func (s *Store) Refund(ctx context.Context, agent string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM questions WHERE rowid = (SELECT rowid FROM questions WHERE agent = ? ORDER BY asked_ms DESC, rowid DESC LIMIT 1)`, agent)
		return err
	})
}

// Forgive implements approval.Store.
func (s *Store) Forgive(ctx context.Context, agents ...string) error {
	return s.write(ctx, func(t *tx) error {
		for _, table := range []string{"questions", "refusals"} {
			if err := t.forgive(table, agents); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) forgive(table string, agents []string) error {
	if len(agents) == 0 {
		_, err := t.exec(`DELETE FROM ` + table)
		return err
	}
	for _, agent := range agents {
		if _, err := t.exec(`DELETE FROM `+table+` WHERE agent = ?`, agent); err != nil {
			return err
		}
	}
	return nil
}
