// Package sqlite is the embedded store: one SQLite file in the state directory,
// no server, no port. It keeps what is known of conversations, the cards that
// wait for a person, and the head of the record, and it survives kill -9.
//
// There is one writer. Every change is an operation that a single goroutine
// runs, together with whatever else is waiting, inside one immediate
// transaction; no caller gets a result before the commit that holds it has
// returned. So each operation is atomic, the price of a commit is shared by
// those who come at the same time, and there is no lock to get wrong. Reads have
// a connection of their own and see what is committed.
//
// An operation looks before it writes: what it refuses it refuses without having
// changed anything, and its neighbours in the transaction never notice. If the
// database itself fails, the transaction is undone and the neighbours run again,
// each by itself. What every call writes goes to the end of a journal first, and
// many of them at once from there to the tables.
//
// The package refuses to wait (an answer or an error within 400 ms), to share
// its file with a second process, to open a file that others can read, and to
// take an empty file for a new one when the epoch says there was another. It
// decides nothing: what each method means is said by the model in storetest.
//
// People may look inside, also while it runs: `sqlite3 state.db 'SELECT * FROM
// overview'`. Times are Unix milliseconds, levels are 0 (system) to 5
// (untrusted). The store's time never goes back: see clock.go. Writing by hand can only make things worse for the agent: a row
// that vanishes leaves its name in `known`, and then counts as untrusted.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Options are what a store can be given.
type Options struct {
	Now     func() time.Time     // the clock that the store follows; nil: time.Now
	Elapsed func() time.Duration // time that passes while Now is set back; nil: the process's own, or none where Now is given
	Epoch   *store.Epoch         // where the epoch is kept; nil: in <path>.epoch

	// SetBack is called when Now was found behind the time that the store had seen.
	// It may be called by any method. It may be nil.
	SetBack func(store.SetBack)

	Timeout time.Duration // how long a caller waits for an answer; 0: 400 ms
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path  string
	file  os.FileInfo // of the database we opened, to notice that it was replaced
	wall  func() time.Time
	clock *store.Clock
	epoch *store.Epoch

	lock   *os.File
	writer *batcher
	reader *batcher
	wakes  wakes
	close  sync.Once
}

var (
	_ verifier.Store = (*Store)(nil)
	_ approval.Store = (*Store)(nil)
)

// Errors of this package. Each comes wrapped in what happened and what to do.
var (
	ErrInUse    = errors.New("store/sqlite: another process uses this database")
	ErrExposed  = errors.New("store/sqlite: others can read the database")
	ErrTimeout  = errors.New("store/sqlite: the database did not answer in time")
	ErrClosed   = errors.New("store/sqlite: the store is closed")
	ErrReplaced = errors.New("store/sqlite: the database file was removed or replaced while in use")
	ErrSchema   = errors.New("store/sqlite: the database was written by a newer version of this program")
)

// Open opens the database, or makes one, and holds it for this process alone.
func Open(path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	lock, err := claim(path)
	if err != nil {
		return nil, err
	}
	if o.SetBack == nil {
		o.SetBack = func(store.SetBack) {}
	}
	s := &Store{path: path, wall: o.Now, epoch: o.Epoch, lock: lock}
	switch {
	case s.wall == nil:
		s.wall = time.Now
	case o.Elapsed == nil:
		o.Elapsed = func() time.Duration { return 0 }
	}
	s.clock = store.NewClock(o.Elapsed, func(by time.Duration) { o.SetBack(store.SetBack{By: by}) })
	if err := s.start(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) start(o Options) error {
	if s.epoch == nil {
		epoch, err := store.OpenEpoch(s.path + ".epoch")
		if err != nil {
			return err
		}
		s.epoch = epoch
	}
	w, err := connect(s.path, forWriting)
	if err != nil {
		return err
	}
	s.writer = newBatcher(s, w, "BEGIN IMMEDIATE")
	if s.file, err = os.Stat(s.path); err != nil {
		return fmt.Errorf("store/sqlite: %w", err)
	}
	if err := migrate(w); err != nil {
		return err
	}
	if err := s.compareEpochs(w); err != nil {
		return err
	}
	if err := s.goOn(w, o.SetBack); err != nil {
		return err
	}
	r, err := connect(s.path, forReading)
	if err != nil {
		return err
	}
	s.reader = newBatcher(s, r, "BEGIN")
	if o.Timeout > 0 {
		s.writer.waits, s.reader.waits = o.Timeout, o.Timeout
	}
	s.writer.sweeper, s.writer.unposted = newSweeper(), true
	s.writer.start()
	s.reader.start()
	return nil
}

// Close ends the store; who still waits gets ErrClosed. The lock goes last.
func (s *Store) Close() (err error) {
	s.close.Do(func() {
		s.wakes.close()
		err = errors.Join(s.reader.close(), s.writer.close(), release(s.lock))
	})
	return err
}

// Ready says whether the store can still commit to the file it was opened on.
func (s *Store) Ready(ctx context.Context) error {
	fi, err := os.Stat(s.path)
	if err != nil || !os.SameFile(fi, s.file) {
		return fmt.Errorf("%w: %s\nhint: restart; what it held counts as lost", ErrReplaced, s.path)
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO meta (name, value) VALUES ('ready', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			t.now.Format(time.RFC3339Nano))
		return err
	})
}

// KeepHead notes the head of a record, so that cutting its tail is seen.
func (s *Store) KeepHead(ctx context.Context, name, head string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO heads (name, head, noted_ms) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET head = excluded.head, noted_ms = excluded.noted_ms`, name, head, t.ms())
		return err
	})
}

const selectHead = `SELECT head FROM heads WHERE name = ?`

// Head is the head last noted under a name; "" if none.
func (s *Store) Head(ctx context.Context, name string) (string, error) {
	return ask(ctx, s.reader, func(t *tx) (string, error) {
		r, err := t.one(selectHead, name)
		return r.text(0), err
	})
}

// write runs an operation that has no result but its error.
func (s *Store) write(ctx context.Context, run func(*tx) error) error {
	_, err := ask(ctx, s.writer, func(t *tx) (struct{}, error) { return struct{}{}, run(t) })
	return err
}
