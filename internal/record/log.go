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
	"github.com/openclaw-verifier/verifier/internal/files"
)

// Errors of Append.
var (
	ErrClosed = errors.New("record: the log is closed")

	// ErrSlow says that the disk did not take a line in time. It may still take it: then the record says more than
	// came of it, never less.
	ErrSlow = errors.New("record: the disk is too slow to keep the record")

	// ErrGone says that the file isn't there any more, or does not end where the log's last line ended.
	ErrGone = errors.New("record: the record was moved, removed, replaced, cut or written to by something else " +
		"while in use; put it back, or restart, which notes in the record what is lost")
)

// DefaultPatience lets a call be denied within half a second of its time where the disk hangs.
const DefaultPatience = 250 * time.Millisecond

const maxQueued = 1024 // lines that wait for a slow disk

// Options says how a log is kept. Only Key is required.
type Options struct {
	Key      hmac.Key         // the server's
	Now      func() time.Time // nil: time.Now
	SyncEach bool             // Append returns after a sync of the file, not after write
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
	queue   chan *waiting
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

// waiting is an entry that is to be written.
type waiting struct {
	text []byte
	left atomic.Bool // its maker has given up, or the writer has it: who says so first
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
	text, err := e.encode(l.o.Now())
	if err != nil {
		return err
	}
	var enough <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	w := &waiting{text: text, done: make(chan error, 1)}
	select {
	case l.queue <- w:
	case <-l.ended:
		return ErrClosed
	case <-enough:
		return ErrSlow
	}
	select {
	case err = <-w.done:
		return err
	case <-l.ended:
		err = ErrClosed
	case <-enough:
		err = ErrSlow
		w.left.Store(true) // if the writer does not have it yet, it will not be written
	}
	select {
	case err = <-w.done:
	default:
	}
	return err
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
		err = errors.Join(err, files.Unlock(l.lock), l.lock.Close())
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
	at     string // where the file is
	number int    // of the file
	lines  int    // that it has
	seq    uint64 // of the last line
	mac    string // of the last line
	size   int64  // up to and with the last line
	torn   bool   // the file may be longer than that
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
func (w *writer) take(first *waiting) {
	all := []*waiting{first}
	for n := len(w.queue); n > 0; n-- {
		all = append(all, <-w.queue)
	}
	var texts [][]byte
	for _, e := range all {
		if !e.left.Swap(true) {
			texts = append(texts, e.text)
		}
	}
	if len(texts) == 0 {
		return
	}
	err := w.write(texts)
	w.note(err)
	for _, e := range all { // nobody listens to those that were given up
		e.done <- err
	}
}

// note tells the readers of the log how far it is.
func (w *writer) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.last = err, Head{Chain: w.id, Seq: w.seq, MAC: w.mac}
}

// write puts lines where they belong, all of them or none.
func (w *writer) write(texts [][]byte) error {
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.heal(); err != nil {
		return err
	}
	if err := w.turnOver(); err != nil {
		return fmt.Errorf("record: go on in a new file: %w", err)
	}
	return w.add(texts...)
}

// add appends lines. After a failed sync the kernel may have dropped the pages and forgotten about them, so a second
// try would prove nothing: all of them count as not written.
func (w *writer) add(texts ...[]byte) error {
	buf, seq, mac := w.buf[:0], w.seq, w.mac
	for _, text := range texts {
		seq++
		buf, mac = w.chain.add(buf, seq, mac, text)
	}
	if w.buf = buf; cap(buf) > 1<<20 {
		w.buf = nil
	}
	w.torn = true
	n, err := w.disk.Write(buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err == nil && w.o.SyncEach {
		err = w.disk.Sync()
	}
	if err != nil {
		w.heal() //nolint:errcheck // stays torn; the next write heals first
		return fmt.Errorf("record: write: %w", err)
	}
	w.seq, w.mac, w.size, w.lines, w.torn = seq, mac, w.size+int64(len(buf)), w.lines+len(texts), false
	return nil
}

// inPlace checks that the file is where it was, and ends with the last line.
func (w *writer) inPlace() error {
	mine, errMine := w.disk.Stat()
	there, errThere := os.Lstat(w.at) //nolint:gosec // the owner's config says where the record is
	if errMine != nil || errThere != nil || !os.SameFile(mine, there) ||
		mine.Size() < w.size || mine.Size() > w.size && !w.torn {
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
	at, old := fileName(w.path, w.number+1), *w
	next, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	w.disk, w.at, w.number, w.size, w.lines = next, at, w.number+1, 0, 0
	if err := w.begin(); err != nil {
		*w = old
		return errors.Join(err, next.Close(), os.Remove(at))
	}
	old.disk.Close() //nolint:errcheck // it was written, and synced where it had to be
	if r.Keep > 0 {
		w.thin(r.Keep)
	}
	return nil
}

// begin writes the first line of an empty file.
func (w *writer) begin() error {
	if err := w.own(Entry{Kind: KindBegin, Begin: &Begin{format, w.id, w.number, w.mac}}); err != nil || !w.o.SyncEach {
		return err
	}
	// The file's name has to survive a power cut like its lines.
	dir, err := os.Open(filepath.Dir(w.at)) //nolint:gosec // the owner's config says where the record is
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// own writes an entry of the log's own.
func (w *writer) own(e Entry) error {
	text, err := e.encode(w.o.Now())
	if err != nil {
		return err
	}
	return w.add(text)
}

// thin removes the oldest files beyond those to keep, each after the record says so. What can't be recorded is not
// removed; what can't be removed is tried again after the next rotation.
func (w *writer) thin(keep int) {
	files, err := Files(w.path)
	if err != nil {
		return
	}
	for _, path := range files[:max(0, len(files)-1-keep)] {
		_, n := Base(path)
		gone := Entry{Kind: KindNote, Note: "removed a file of the record, as configured", Removed: n}
		if w.own(gone) != nil || os.Remove(path) != nil { //nolint:gosec // as above
			return
		}
	}
}
