package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
)

// Exec runs a statement on the writer's connection, as a person with sqlite3
// would on theirs.
func (s *Store) Exec(ctx context.Context, query string, args ...driver.Value) error {
	return s.records.writer.ask(ctx, func(t *tx) error {
		_, err := t.exec(query, args...)
		return err
	})
}

// CountRows answers a query for one number.
func (s *Store) CountRows(ctx context.Context, query string, args ...driver.Value) (int64, error) {
	return ask(ctx, s.records.reader, func(t *tx) (int64, error) {
		r, err := t.one(query, args...)
		return r.int(0), err
	})
}

// Sweep does what the writer does when it is idle, to the end.
func (s *Store) Sweep(ctx context.Context) error {
	w := sweeper{}
	for first := true; first || w.from != ""; first = false {
		if err := s.records.writer.ask(ctx, w.step); err != nil {
			return err
		}
	}
	return nil
}

// Hang keeps the writer busy until release is closed, and says when it is.
func (s *Store) Hang(release <-chan struct{}) (held <-chan struct{}) {
	ch := make(chan struct{})
	hangs := sync.OnceFunc(func() { close(ch) })
	ask := func() error {
		return s.records.writer.ask(context.Background(), func(*tx) error {
			hangs()
			<-release
			return nil
		})
	}
	go func() {
		for errors.Is(ask(), ErrTimeout) {
			select {
			case <-ch:
				return
			default: // the writer did not come to it in time, and leaves it out
			}
		}
	}()
	return ch
}

// Poison queues an operation that changes something and then fails as the
// database would, or panics.
func (s *Store) Poison(ctx context.Context, panics bool) error {
	return s.records.writer.ask(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM records`); err != nil {
			return err
		}
		if panics {
			panic("poison")
		}
		return &fault{errors.New("disk I/O error")}
	})
}

// Queued is how many operations wait for the writer.
func (s *Store) Queued() int { return len(s.records.writer.queue) }
