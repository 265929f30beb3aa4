// Package sqlite is the embedded store: one SQLite file in the state directory,
// no server, no port, and it survives kill -9.
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
// each by itself.
//
// The package refuses to wait (an answer or an error within 400 ms), to share
// its file with a second process and to open a file that others can read. It
// decides nothing: it keeps records, and what they mean is said in package store.
//
// People may look inside, also while it runs: `sqlite3 state.db 'SELECT * FROM
// overview'`. Times are Unix milliseconds. A record that is deleted by hand leaves
// its conversation's name in `members`, which then counts as untrusted. To
// change one by hand, give it another version, or a running gateway goes on with
// what it remembers.
package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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
	*store.Store
	records *records
}

// records are the database as store.Records.
type records struct {
	path  string
	file  os.FileInfo // of the database we opened, to notice that it was replaced
	wall  func() time.Time
	clock *store.Clock

	lock   *os.File
	writer *batcher
	reader *batcher
	wakes  wakes
	close  sync.Once

	met  atomic.Bool // the time that was kept has been read
	kept time.Time   // when it was last kept; the writer's
}

var (
	_ verifier.Store = (*Store)(nil)
	_ approval.Store = (*Store)(nil)
	_ store.Records  = (*records)(nil)
)

// Errors of this package. Each comes wrapped in what happened and what to do.
var (
	ErrInUse    = errors.New("store/sqlite: another process uses this database")
	ErrExposed  = errors.New("store/sqlite: others can read the database")
	ErrTimeout  = errors.New("store/sqlite: the database did not answer in time")
	ErrClosed   = errors.New("store/sqlite: the store is closed")
	ErrReplaced = errors.New("store/sqlite: the database file was removed or replaced while in use")
	ErrSchema   = errors.New("store/sqlite: the database was written by another version of this program")
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
	r := &records{path: path, wall: o.Now, lock: lock}
	switch {
	case r.wall == nil:
		r.wall = time.Now
	case o.Elapsed == nil:
		o.Elapsed = func() time.Duration { return 0 }
	}
	r.clock = store.NewClock(o.Elapsed, func(by time.Duration) { o.SetBack(store.SetBack{By: by}) })
	s, err := r.start(o)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return s, nil
}

func (r *records) start(o Options) (*Store, error) {
	if o.Epoch == nil {
		epoch, err := store.OpenEpoch(r.path + ".epoch")
		if err != nil {
			return nil, err
		}
		o.Epoch = epoch
	}
	w, err := connect(r.path, forWriting)
	if err != nil {
		return nil, err
	}
	r.writer = newBatcher(r, w, "BEGIN IMMEDIATE")
	if r.file, err = os.Stat(r.path); err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	if err := prepare(w); err != nil {
		return nil, err
	}
	reader, err := connect(r.path, forReading)
	if err != nil {
		return nil, err
	}
	r.reader = newBatcher(r, reader, "BEGIN")
	o.Timeout = cmp.Or(o.Timeout, patience)
	r.writer.waits, r.reader.waits = store.MeetPatience, store.MeetPatience
	r.writer.sweeper = &sweeper{}
	r.writer.start()
	r.reader.start()
	s := store.New(r, store.Options{Epoch: o.Epoch, Timeout: o.Timeout, Clock: r.clock, SetBack: o.SetBack})
	if err := s.Meet(); err != nil {
		return nil, err
	}
	r.met.Store(true)
	r.writer.waits, r.reader.waits = o.Timeout, o.Timeout
	return &Store{Store: s, records: r}, nil
}

// Close ends the store; who still waits gets ErrClosed. The lock goes last.
func (r *records) Close() (err error) {
	r.close.Do(func() {
		r.wakes.close()
		err = errors.Join(r.reader.close(), r.writer.close(), release(r.lock))
	})
	return err
}

// replaced says that the file is not the one that was opened.
func (r *records) replaced() error {
	fi, err := os.Stat(r.path)
	if err != nil || !os.SameFile(fi, r.file) {
		return fmt.Errorf("%w: %s\nhint: restart; what it held counts as lost", ErrReplaced, r.path)
	}
	return nil
}
