package record

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is what Append returns after Close.
var ErrClosed = errors.New("audit: the log is closed")

// Options says how a log is kept. Only Key is required.
type Options struct {
	Key             ed25519.PrivateKey // signs checkpoints and heads, and the MACs of lines come from it
	Now             func() time.Time   // nil: time.Now
	Rand            io.Reader          // nil: crypto/rand; for the chain's id
	SyncEach        bool               // Append returns after fdatasync, not after write
	CheckpointEvery int                // lines between checkpoints; 0: 256
	Patience        time.Duration      // how long Append waits for a slow disk; 0: as long as it takes

	Rotation Rotation // when the record goes on in a new file

	// Hide hides the secrets in all that an entry says besides its params, which
	// are hidden already: names that clients chose are in it. It changes the texts
	// in place. Nil: nothing is hidden.
	Hide func(texts ...*string)

	// Seen is the last head that was kept elsewhere; nil: there is none. If the
	// record does not hold it, Open notes that in the record itself.
	Seen *Head
}

// disk is the file as the log writes it.
type disk interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// state is how far a chain has got.
type state struct {
	seq   uint64
	hash  digest
	size  int64 // of the file up to and with this line
	since int   // lines after the last checkpoint
}

// Log is an open record. It is safe for concurrent use.
type Log struct {
	o       Options
	path    string // of the file; empty in tests of the chain alone: it stays one file
	files   files
	chain   string
	repairs []string
	opened  time.Time

	alone     sync.Mutex   // held by the one who writes without a goroutine
	slowUntil atomic.Int64 // in nanoseconds since it was opened
	queued    atomic.Int64 // lines that goroutines are writing

	syncing chan struct{} // holds one: the turn to sync; taken before mu
	due     atomic.Bool   // the next line goes into a new file

	mu      sync.Mutex
	mac     hash.Hash
	disk    disk // replaced only with the turn to sync and mu held
	cur     state
	number  int    // of the file in the chain, from one
	first   uint64 // the number of its first line
	torn    bool   // the file may be longer than cur.size
	closed  bool
	err     error // of the last line
	signErr error // of the last checkpoint
	synced  state // with SyncEach: what is known to be on disk
	open    *batch
}

// Append writes one entry and returns once it is in the file or, with
// SyncEach, on disk. After an error the entry is not part of the record; after
// [ErrSlow] it may be.
func (l *Log) Append(e Entry) error {
	d, err := l.taken(e)
	if err != nil {
		return err
	}
	return l.inTime(d)
}

// append is Append for the log's own lines, and waits as long as it takes.
func (l *Log) append(e *Entry) error {
	d, err := l.draft(e)
	if err != nil {
		return err
	}
	return l.put(d)
}

// put writes drafts and waits until they are on disk where they have to be. It
// owns them: their maker may have given up waiting.
func (l *Log) put(d *draft) error {
	if err := l.turnOver(); err != nil {
		return err
	}
	b, leads, err := l.enter(d)
	if err != nil {
		return err
	}
	return l.wait(b, leads)
}

// enter is the part under the lock: the line gets its place and is written.
func (l *Log) enter(d *draft) (*batch, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false, ErrClosed
	}
	err := l.inPlace()
	if err == nil {
		err = l.write(d)
	}
	if err != nil {
		l.err = err
		return nil, false, err
	}
	if l.cur.since >= l.o.CheckpointEvery {
		// The entries themselves are written, so a failure is not the caller's;
		// the next Append tries again.
		l.signErr = l.checkpoint()
	}
	l.look()
	if !l.o.SyncEach {
		l.err = nil
		return nil, false, nil
	}
	b, leads := l.join()
	return b, leads, nil
}

// write adds all of the line, or nothing.
func (l *Log) write(d *draft) error {
	if err := l.heal(); err != nil {
		return err
	}
	line, hash := d.seal(l.cur.seq+1, l.cur.hash, l.mac)
	n, err := l.disk.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.torn = true
		l.heal() //nolint:errcheck // stays torn; the next write heals first
		return fmt.Errorf("audit: write: %w", err)
	}
	l.cur = state{seq: l.cur.seq + 1, hash: hash, size: l.cur.size + int64(len(line)), since: l.cur.since + 1}
	return nil
}

// heal cuts the file back to its last good line.
func (l *Log) heal() error {
	if !l.torn {
		return nil
	}
	if err := l.disk.Truncate(l.cur.size); err != nil {
		return fmt.Errorf("audit: cut back after a failed write: %w", err)
	}
	l.torn = false
	return nil
}

// checkpoint writes the signed head as a line of its own.
func (l *Log) checkpoint() error {
	head := l.head(l.cur).signed(l.o.Key)
	d, err := l.draft(&Entry{Kind: KindCheckpoint, Checkpoint: &head})
	if err != nil {
		return err
	}
	if err := l.write(d); err != nil {
		return err
	}
	l.cur.since = 0
	return nil
}

func (l *Log) head(s state) Head {
	return Head{Chain: l.chain, Seq: s.seq, Hash: string(s.hash[:])}
}

// Head returns the signed head, for the caller to keep elsewhere. With SyncEach
// it never runs ahead of the disk.
func (l *Log) Head() Head {
	l.mu.Lock()
	s := l.cur
	if l.o.SyncEach {
		s = l.synced
	}
	l.mu.Unlock()
	return l.head(s).signed(l.o.Key)
}

// Err returns the last Append's failure, nil once one has succeeded again, or
// [ErrGone].
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.inPlace(), l.err, l.signErr)
}

// Repairs tells what Open found wrong with the end of the file and noted in the
// record, a sentence each.
func (l *Log) Repairs() []string { return l.repairs }

// Close writes a last checkpoint and releases the file. It does not write to
// a file that is no longer at the record's path.
func (l *Log) Close() error {
	b, leads, err := l.finish()
	if errors.Is(err, ErrClosed) {
		return err
	}
	err = errors.Join(err, l.wait(b, leads))
	return errors.Join(err, l.disk.Close())
}

// finish shuts the door on new entries. Lines still waiting for their sync are
// in the batch it joins, so waiting for that is waiting for all.
func (l *Log) finish() (b *batch, leads bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false, ErrClosed
	}
	err = l.inPlace()
	l.closed = true
	if err == nil && l.cur.since > 0 {
		err = l.checkpoint()
	}
	if l.o.SyncEach {
		b, leads = l.join()
	}
	return b, leads, err
}

// draft is one of the log's own entries.
func (l *Log) draft(e *Entry) (*draft, error) {
	made := l.o.Now()
	e.normalise(made)
	d, err := newDraft(e, made)
	if err != nil {
		return nil, fmt.Errorf("audit: encode: %w", err)
	}
	return d, nil
}

// taken is a caller's entry.
func (l *Log) taken(e Entry) (*draft, error) {
	if l.o.Hide != nil {
		e.hide(l.o.Hide)
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return l.draft(&e)
}

// ErrSlow says that the disk did not take a line in time. It may still take it:
// then the record says more than came of it, never less.
var ErrSlow = errors.New("audit: the disk is too slow to keep the record")

// DefaultPatience lets a call be denied within half a second of its time where
// the disk hangs.
const DefaultPatience = 250 * time.Millisecond

const (
	stall     = 20 * time.Millisecond // a line that took longer makes the disk count as slow
	slowFor   = 5 * time.Second       // from then on
	maxQueued = 1024                  // lines that wait for a slow disk; more are refused at once
)

// inTime writes a line, and returns after the patience of the log at the latest
// where other lines are being written or the disk was slow lately. A line that is
// alone on a disk that kept up is written without more ado: a goroutine for each
// would cost every call, and the first line that stalls is one.
func (l *Log) inTime(d *draft) error {
	if l.o.Patience == 0 {
		return l.put(d)
	}
	began := time.Since(l.opened)
	if l.slowUntil.Load() > int64(began) || !l.alone.TryLock() {
		return l.patiently(d)
	}
	defer l.alone.Unlock()
	defer l.timed(began)
	return l.put(d)
}

// timed remembers when writing took long.
func (l *Log) timed(began time.Duration) {
	if now := time.Since(l.opened); now-began > stall {
		l.slowUntil.Store(int64(now + slowFor))
	}
}

// patiently leaves the writing of a line to a goroutine, and does not wait for it
// for ever.
func (l *Log) patiently(d *draft) error {
	if l.queued.Add(1) > maxQueued {
		l.queued.Add(-1)
		return l.late()
	}
	done := make(chan error, 1)
	go func() {
		defer l.queued.Add(-1)
		began := time.Since(l.opened)
		err := l.put(d)
		l.timed(began)
		done <- err
	}()
	enough := time.NewTimer(l.o.Patience)
	defer enough.Stop()
	select {
	case err := <-done:
		return err
	case <-enough.C:
		return l.late()
	}
}

func (l *Log) late() error {
	l.slowUntil.Store(int64(time.Since(l.opened) + slowFor))
	return ErrSlow
}
