package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"
)

// Exec runs a statement on the writer's connection, as a person with sqlite3
// would on theirs.
func (s *Store) Exec(ctx context.Context, query string, args ...driver.Value) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(query, args...)
		return err
	})
}

// Count answers a query for one number.
func (s *Store) Count(ctx context.Context, query string, args ...driver.Value) (int64, error) {
	return ask(ctx, s.reader, func(t *tx) (int64, error) {
		r, err := t.one(query, args...)
		return r.int(0), err
	})
}

// Patient lets callers wait as long as a test may on a machine that is busy
// with others. Call it before the store is used.
func (s *Store) Patient() *Store {
	s.writer.waits, s.reader.waits = time.Minute, time.Minute
	return s
}

// Sweep does what the writer does when it is idle, to the end.
func (s *Store) Sweep(ctx context.Context) error {
	w := newSweeper()
	for _, w := range []*walk{&w.requests, &w.others[0], &w.others[1]} {
		for first := true; first || w.from != nil; first = false {
			if err := s.write(ctx, w.step); err != nil {
				return err
			}
		}
	}
	return s.write(ctx, (*tx).expire)
}

// Hang keeps the writer busy until release is closed, and says when it is.
func (s *Store) Hang(release <-chan struct{}) (held <-chan struct{}) {
	ch := make(chan struct{})
	go func() {
		_ = s.write(context.Background(), func(*tx) error {
			close(ch)
			<-release
			return nil
		})
	}()
	return ch
}

// Poison queues an operation that changes something and then fails as the
// database would, or panics.
func (s *Store) Poison(ctx context.Context, panics bool) error {
	return s.write(ctx, func(t *tx) error {
		if err := keepEpoch(t.db, "poisoned"); err != nil {
			return err
		}
		if panics {
			panic("poison")
		}
		return &fault{errors.New("disk I/O error")}
	})
}

// Queued is how many operations wait for the writer.
func (s *Store) Queued() int { return len(s.writer.queue) }

// Remembers is how many conversations the writer knows without asking the file,
// and how many levels in them. Whoever asks ends that.
func (s *Store) Remembers(ctx context.Context) (conversations, levels int, err error) {
	conversations, err = ask(ctx, s.writer, func(t *tx) (int, error) {
		for _, c := range t.seen {
			levels += len(c.levels)
		}
		return len(t.seen), nil
	})
	return conversations, levels, err
}
