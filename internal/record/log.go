package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Errors of Append.
var (
	ErrClosed = errors.New("record: the log is closed")

	// ErrSlow says that the disk did not take a line in time. It may still take it: then the record says more than
	// came of it, never less.
	ErrSlow = errors.New("record: the disk is too slow to keep the record")

	// ErrGone says that the file isn't there any more, or does not end where the log's last line ended.
	ErrGone = errors.New("record: the record was moved, removed, replaced, cut or written to by something else while in use; put it back, or restart, which notes in the record what is lost")
)

// DefaultPatience lets a call be denied within half a second of its time where the disk hangs.
const DefaultPatience = 250 * time.Millisecond

// maxQueued is how many lines wait for a slow disk; more are refused at once.
const maxQueued = 1024

// Options says how a log is kept. Only Key is required.
type Options struct {
	Key      hmac.Key         // the server's
	Now      func() time.Time // nil: time.Now
	Rand     io.Reader        // nil: crypto/rand; for the chain's id
	SyncEach bool             // Append returns after fdatasync, not after write
	Patience time.Duration    // how long Append waits for a slow disk; 0: as long as it takes
	Rotation Rotation         // when the record goes on in a new file

	// Hide hides the secrets in all that an entry says besides its params, which are hidden already: names that
	// clients chose are in it. It changes the texts in place. Nil: nothing is hidden.
	Hide func(texts ...*string)

	// Seen is the last head that was kept elsewhere; nil: there is none. If the record does not hold it, Open notes
	// that in the record itself.
	Seen *Head
}

// disk is a file as the log writes it.
type disk interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
}

// Log is an open record. It is safe for concurrent use.
type Log struct {
	o       Options
	path    string // without the number
	repairs []string
	queue   chan *entry
	quit    chan struct{} // closed to end the writer
	ended   chan struct{} // closed when it has
	closing sync.Once

	mu       sync.Mutex
	chain    chain // for heads; the writer has its own
	rotation Rotation
	last     Head  // of what is written, without its seal
	err      error // of the last write
	lock     *os.File
	kept     uint64 // the number of the last line whose head is beside the record
}

// entry is one that waits to be written.
type entry struct {
	text []byte
	left atomic.Bool // its maker has given up, or the writer has it: the first to say so
	done chan error
}

// Append writes one entry and returns once it is in the file or, with SyncEach, on disk. After an error the entry is
// not part of the record; after [ErrSlow] it may be.
func (l *Log) Append(e Entry) error {
	if l.o.Hide != nil {
		e.hide(l.o.Hide)
	}
	if err := e.check(); err != nil {
		return err
	}
	return l.append(&e, l.o.Patience)
}

func (l *Log) append(e *Entry, patience time.Duration) error {
	e.normalise(l.o.Now())
	text, err := e.encode()
	if err != nil {
		return fmt.Errorf("record: encode: %w", err)
	}
	var enough <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	w := &entry{text: text, done: make(chan error, 1)}
	select {
	case l.queue <- w:
	case <-l.ended:
		return ErrClosed
	case <-enough:
		return ErrSlow
	}
	select {
	case err := <-w.done:
		return err
	case <-l.ended:
	case <-enough:
		if !w.left.Swap(true) {
			return ErrSlow // and it will not be written
		}
		return l.late(w, ErrSlow)
	}
	return l.late(w, ErrClosed)
}

// late is what became of an entry that the writer may have had.
func (l *Log) late(w *entry, otherwise error) error {
	select {
	case err := <-w.done:
		return err
	default:
		return otherwise
	}
}

// Head is the head of what is written, for the caller to keep elsewhere. With SyncEach it never runs ahead of the disk.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.sealed(l.chain)
}

// KeepHead puts the head beside the record, if there is a new one. It is to be called each second.
func (l *Log) KeepHead() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil || l.last.Seq == l.kept {
		return nil
	}
	if err := l.last.sealed(l.chain).write(l.lock); err != nil {
		return fmt.Errorf("record: keep the head: %w", err)
	}
	l.kept = l.last.Seq
	return nil
}

// SetRotation changes when the record goes on in a new file.
func (l *Log) SetRotation(r Rotation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rotation = r
}

// Err returns the last write's failure, nil once one has succeeded again.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Repairs tells what Open found wrong with the end of the record and noted there, a sentence each.
func (l *Log) Repairs() []string { return l.repairs }

// Close writes what waits and releases the record.
func (l *Log) Close() error {
	err := ErrClosed
	l.closing.Do(func() {
		close(l.quit)
		<-l.ended
		err = l.KeepHead()
		l.mu.Lock()
		defer l.mu.Unlock()
		err = errors.Join(err, unlock(l.lock))
		l.lock = nil
	})
	return err
}

// writer is the one who writes: no other touches the file.
type writer struct {
	*Log
	chain  chain
	id     string // of the chain
	disk   disk
	open   func(path string) (disk, error) // makes a new file
	at     string                          // where the file is
	number int                             // of the file
	lines  int                             // that it has
	seq    uint64                          // of the last line
	mac    string                          // of the last line
	size   int64                           // up to and with the last line
	torn   bool                            // the file may be longer than that
	buf    []byte
}

func (w *writer) run() {
	defer close(w.ended)
	for {
		select {
		case e := <-w.queue:
			w.take(e)
		case <-w.quit:
			for len(w.queue) > 0 {
				w.take(<-w.queue)
			}
			w.note(w.disk.Close())
			return
		}
	}
}

// take writes an entry and all that wait behind it.
func (w *writer) take(first *entry) {
	batch := make([]*entry, 0, 1+len(w.queue))
	for e := first; ; e = <-w.queue {
		if !e.left.Swap(true) {
			batch = append(batch, e)
		}
		if len(batch) == cap(batch) || len(w.queue) == 0 {
			break
		}
	}
	if len(batch) == 0 {
		return
	}
	err := w.write(batch)
	w.note(err)
	for _, e := range batch {
		e.done <- err
	}
}

// note tells the readers of the log how far it is.
func (w *writer) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.last = Head{Chain: w.id, Seq: w.seq, MAC: w.mac}
}

// write adds all of the batch, or nothing.
func (w *writer) write(batch []*entry) error {
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.heal(); err != nil {
		return err
	}
	if err := w.turnOver(); err != nil {
		return err
	}
	return w.add(batch)
}

func (w *writer) add(batch []*entry) error {
	buf, seq, mac := w.buf[:0], w.seq, w.mac
	for _, e := range batch {
		seq++
		buf, mac = w.chain.add(buf, seq, mac, e.text)
	}
	if w.buf = buf; cap(buf) > 1<<20 {
		w.buf = nil
	}
	w.torn = true
	if err := writeAll(w.disk, buf, w.o.SyncEach); err != nil {
		w.heal() //nolint:errcheck // stays torn; the next write heals first
		return err
	}
	w.torn = false
	w.seq, w.mac, w.size, w.lines = seq, mac, w.size+int64(len(buf)), w.lines+len(batch)
	return nil
}

// writeAll writes to the file. After a failed sync the kernel may have dropped the pages and forgotten about them, so a
// second try would prove nothing: all of it counts as not written.
func writeAll(d disk, buf []byte, sync bool) error {
	n, err := d.Write(buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("record: write: %w", err)
	}
	if sync {
		if err := d.Sync(); err != nil {
			return fmt.Errorf("record: sync: %w", err)
		}
	}
	return nil
}

// inPlace checks that the file is where it was, and ends with the last line.
func (w *writer) inPlace() error {
	mine, errMine := w.disk.Stat()
	there, errThere := os.Lstat(w.at)
	if errMine != nil || errThere != nil || !os.SameFile(mine, there) {
		return ErrGone
	}
	if size := mine.Size(); size < w.size || size > w.size && !w.torn {
		return ErrGone
	}
	return nil
}

// heal cuts the file back to its last good line.
func (w *writer) heal() error {
	if !w.torn {
		return nil
	}
	if err := w.disk.Truncate(w.size); err != nil {
		return fmt.Errorf("record: cut back after a failed write: %w", err)
	}
	w.torn = false
	return nil
}

// turnOver goes on in a new file if that is due. A line that can't be put where it belongs is not written: the caller
// denies, and the next line tries again.
func (w *writer) turnOver() error {
	w.mu.Lock()
	r := w.rotation
	w.mu.Unlock()
	if r.Bytes <= 0 || w.size < r.Bytes || w.lines < 2 {
		return nil
	}
	at := fileName(w.path, w.number+1)
	next, err := w.open(at)
	if err != nil {
		return fmt.Errorf("record: go on in a new file: %w", err)
	}
	old, before := w.disk, *w
	w.disk, w.at, w.number = next, at, w.number+1
	if err := w.begin(); err != nil {
		*w = before
		return errors.Join(err, next.Close(), os.Remove(at))
	}
	old.Close() //nolint:errcheck // it was written, and synced where it had to be
	w.thin(r.Keep)
	return nil
}

// begin writes the first line of a new file, which the writer is in by now.
func (w *writer) begin() error {
	e := Entry{Kind: KindBegin, Begin: &Begin{Format: format, Chain: w.id, File: w.number, Prev: w.mac}}
	e.normalise(w.o.Now())
	text, err := e.encode()
	if err != nil {
		return err
	}
	buf, mac := w.chain.add(nil, w.seq+1, w.mac, text)
	if err := writeAll(w.disk, buf, w.o.SyncEach); err != nil {
		return err
	}
	w.seq, w.mac, w.size, w.lines, w.torn = w.seq+1, mac, int64(len(buf)), 1, false
	if w.o.SyncEach { // its name has to survive a power cut like its lines
		return syncDir(filepath.Dir(w.at))
	}
	return nil
}

// thin removes the oldest files beyond those to keep, each after the record says so. What can't be recorded is not
// removed; what can't be removed is tried again after the next rotation.
func (w *writer) thin(keep int) {
	files, err := list(w.path)
	if err != nil || keep <= 0 {
		return
	}
	for _, f := range files[:max(0, len(files)-1-keep)] {
		e := Entry{Kind: KindNote, Note: "removed a file of the record, as configured", Removed: f.number}
		e.normalise(w.o.Now())
		text, err := e.encode()
		if err != nil || w.add([]*entry{{text: text}}) != nil || os.Remove(f.path) != nil {
			return
		}
	}
}
