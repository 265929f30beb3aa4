// Package record keeps the record: what was asked, what was decided, by whom and why, in files whose every later
// change can be noticed.
//
// The record is JSON lines. A line opens with its number and closes with a MAC under a key that is derived from the
// server's; it covers the line and the MAC of the line before:
//
//	{"seq":7,"kind":"decision",…,"mac":"…"}
//
// so [VerifyFiles] names the first line that was edited, removed, moved or added by anything without the key. A tail
// that was cut off shows only against a [Head], the number and the MAC of the last line: it is put beside the record
// each second, and given to the caller, who keeps it somewhere else. Whoever has the key can forge all of it.
//
// The files are record-000001.jsonl and so on; the highest is written, and only that one. When it is large enough
// ([Rotation]) the next begins, whose first line holds the MAC of the last line before it. Nothing is renamed, and
// nothing removed unless the owner says how many files to keep, and then the record says so first.
//
// All lines that wait are given to the system in one write by one goroutine. "Written" means that write(2) returned:
// the line survives the death of the process, not that of the machine; [Options.SyncEach] adds a sync of the file. A
// failed write leaves nothing behind: the file is cut back to its last good line, Append returns the error, and the
// next Append tries again, so that a full disk needs no restart once there is space.
//
// What the package refuses: to open a file that others may read, that is a link, that another process has open, that
// was begun with another key, or whose last complete line isn't the server's; to write a line longer than it would
// read; to return success for a line that is not in the file. A file that is moved away, removed, replaced, cut or
// written to by something else is noticed before the next line. It does not redact params: what callers hand over is
// what is kept, and approval codes and tool output have no field here.
package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/files"
)

// Errors of Append.
var (
	ErrClosed  = errors.New("record: the log is closed")
	ErrTooLong = errors.New("record: entry is too long for a line") // of [MaxLine] bytes

	// ErrSlow says that the disk did not take a line in time. It may still take it: then the record says more than
	// came of it, never less.
	ErrSlow = errors.New("record: the disk is too slow to keep the record")

	// ErrGone says that the file isn't there any more, or does not end where the log's last line ended.
	ErrGone = errors.New("record: the record was moved, removed, replaced, cut or written to by something else " +
		"while in use; put it back, or restart, which notes in the record what is lost")
)

// DefaultPatience lets a call be denied within half a second of its time where the disk hangs.
const DefaultPatience = 250 * time.Millisecond

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
}

// Rotation says when the record goes on in a new file. The zero Rotation is never.
type Rotation struct {
	Bytes int64 // once the file is this large; 0: whatever its size
	Keep  int   // how many files stay besides the one that is written; 0: all of them
}

// Log is an open record. It is safe for concurrent use.
type Log struct {
	o       Options
	path    string   // without the number
	lock    *os.File // the file of the head
	repairs []string
	opened  chain         // as it was found
	lost    bool          // a repair tells what is missing
	wake    chan struct{} // holds one while lines wait; closed to end the writer
	ended   chan struct{} // closed when it has

	mu       sync.Mutex
	closed   bool
	next     *batch // what the writer takes next
	rotation Rotation
	written  chain
	err      error  // of the last write
	kept     uint64 // the number of the last line whose head is beside the record
}

// batch is the lines that are written together.
type batch struct {
	texts [][]byte
	done  chan struct{} // closed once they are written, or err says why not
	err   error
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Append writes one entry and returns once it is in the file or, with SyncEach, on disk. After an error the entry is
// not part of the record; after [ErrSlow] it may be.
func (l *Log) Append(e Entry) error {
	if l.o.Hide != nil {
		e.hide(l.o.Hide)
	}
	if err := e.check(); err != nil {
		return err
	}
	return l.append(&e)
}

func (l *Log) append(e *Entry) error {
	text, err := e.encode(l.o.Now())
	if err != nil {
		return err
	}
	b, err := l.queue(text)
	if err != nil {
		return err
	}
	var enough <-chan time.Time
	if l.o.Patience > 0 {
		timer := time.NewTimer(l.o.Patience)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-b.done:
		return b.err
	case <-enough:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-b.done: // at the last moment
		return b.err
	default: // if the writer does not have it yet, it will not be written
	}
	b.texts = slices.DeleteFunc(b.texts, func(t []byte) bool { return &t[0] == &text[0] })
	return ErrSlow
}

func (l *Log) queue(text []byte) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	l.next.texts = append(l.next.texts, text)
	select {
	case l.wake <- struct{}{}:
	default: // the writer is to take what waits already
	}
	return l.next, nil
}

// Head is the head of what is written, for the caller to keep elsewhere. With SyncEach it never runs ahead of the disk.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.seal(l.written.last)
}

// KeepHead puts the head beside the record, if there is a new one. It is to be called each second.
func (l *Log) KeepHead() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.written.last
	if last.Seq == l.kept {
		return nil
	}
	text, err := json.Marshal(l.written.seal(last))
	if err != nil {
		return err
	}
	// Over the one before: it is less than a page, so there is never half of each.
	if _, err = l.lock.WriteAt(append(text, '\n'), 0); err == nil {
		err = l.lock.Truncate(int64(len(text)) + 1)
	}
	if err != nil {
		return fmt.Errorf("record: keep the head: %w", err)
	}
	l.kept = last.Seq
	return nil
}

// Compare holds the record, as it was opened, against the last head that was kept elsewhere; nil: there is none. What
// is missing is noted in the record, and returned, unless Open found it.
func (l *Log) Compare(seen *Head) (missing string, err error) {
	if missing = l.opened.lacks(seen); missing == "" || l.lost {
		return "", nil
	}
	return missing, l.append(&Entry{Kind: KindRepair, Note: missing, Lost: seen})
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
	l.mu.Lock()
	was := l.closed
	if l.closed = true; !was {
		close(l.wake)
	}
	l.mu.Unlock()
	if was {
		return ErrClosed
	}
	<-l.ended
	return errors.Join(l.KeepHead(), files.Unlock(l.lock), l.lock.Close())
}

// disk is a file as the log writes it.
type disk interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// writer is the one who writes: no other touches the file.
type writer struct {
	*Log
	chain
	disk   disk
	info   os.FileInfo // which file it is
	at     string      // where that is
	number int         // of the file
	empty  bool        // there is only its first line
	size   int64       // up to and with the last line
	torn   bool        // the file may be longer than that
	buf    []byte
}

// run writes what waits, until the log is closed.
func (w *writer) run() {
	defer close(w.ended)
	for range w.wake {
		w.mu.Lock()
		b, texts := w.next, w.next.texts
		b.texts, w.next = nil, newBatch()
		w.mu.Unlock()
		if len(texts) > 0 { // not if all were given up
			b.err = w.write(texts)
			w.note(b.err)
		}
		close(b.done)
	}
	w.note(w.disk.Close())
}

// note tells the readers of the log how far it is.
func (w *writer) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.written = err, w.chain
}

// write puts lines where they belong, all of them or none.
func (w *writer) write(texts [][]byte) error {
	there, err := os.Lstat(w.at)
	if err != nil || !os.SameFile(w.info, there) || there.Size() < w.size || there.Size() > w.size && !w.torn {
		return ErrGone
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
	buf, before := w.buf[:0], w.last
	for _, text := range texts {
		buf = w.chain.add(buf, text)
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
		w.last = before
		w.heal() //nolint:errcheck // stays torn; the next write heals first
		return fmt.Errorf("record: write: %w", err)
	}
	w.size, w.empty, w.torn = w.size+int64(len(buf)), false, false
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
	if r.Bytes <= 0 || w.size < r.Bytes || w.empty {
		return nil
	}
	at, old := fileName(w.path, w.number+1), *w
	next, info, err := openFile(at, os.O_EXCL|os.O_APPEND)
	if err != nil {
		return err
	}
	w.disk, w.info, w.at, w.number, w.size = next, info, at, w.number+1, 0
	if err := w.beginFile(); err != nil {
		*w = old
		return errors.Join(err, next.Close(), os.Remove(at))
	}
	old.disk.Close() //nolint:errcheck // it was written, and synced where it had to be
	if r.Keep > 0 {
		w.thin(r.Keep)
	}
	return nil
}

// beginFile writes the first line of an empty file.
func (w *writer) beginFile() error {
	first := &Begin{format, w.last.Chain, w.number, w.last.MAC}
	if err := w.own(Entry{Kind: KindBegin, Begin: first}); err != nil {
		return err
	}
	w.empty = true
	if !w.o.SyncEach {
		return nil
	}
	return files.SyncDir(filepath.Dir(w.at)) // its name has to survive a power cut like its lines
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
		if w.own(gone) != nil || os.Remove(path) != nil { //nolint:gosec // the owner's config says where it is
			return
		}
	}
}
