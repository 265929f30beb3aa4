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
// The files are record-000001.jsonl and so on; only the highest is written. The first line of the next holds the MAC of
// the last line before it. A file is removed only if the owner says how many to keep, and the record says so first.
//
// One goroutine writes, all lines that wait at once. "Written" means that write(2) returned: the line survives the
// death of the process, not that of the machine; [Options.SyncEach] adds a sync of the file. A failed write leaves
// nothing behind, and the next Append tries again: a full disk needs no restart once there is space. A file that is
// moved away, removed, replaced, cut or written to by something else is noticed before the next line.
//
// What callers hand over as params is what is kept, and approval codes and tool output have no field here.
package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
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

	// Rotation says when the record goes on in a new file: once it has so many bytes; 0: never. So many files stay
	// besides that one; 0: all of them. Nil: never.
	Rotation func() (bytes int64, keep int)

	// Hide gives what hides the secrets in the texts of one entry, besides its params, which are hidden already: names
	// that clients chose are in them. Nil: nothing is hidden.
	Hide func() func(text string) string
}

// Log is an open record. It is safe for concurrent use.
type Log struct {
	o       Options
	path    string   // without the number
	beside  *os.File // the file of the head
	repairs []string
	opened  chain        // as it was found
	lines   chan waiting // what the writer takes
	closing chan struct{}
	ended   chan struct{} // closed when the writer has
	closed  atomic.Bool
	written atomic.Pointer[progress]
}

// progress is how far the record is, and the error of the last write.
type progress struct {
	chain
	err error
}

// waiting is a line that is to be written, and where its Append learns what came of it.
type waiting struct {
	text []byte
	done chan error // holds one, so that the writer waits for no one
}

// Append writes one entry and returns once it is in the file or, with SyncEach, on disk. After an error the entry is
// not part of the record; after [ErrSlow] it may be.
func (l *Log) Append(e Entry) error {
	if l.o.Hide != nil && e.Kind != KindStart { // that has our own version, which looks like a key
		e.hide(l.o.Hide())
	}
	return l.append(&Line{Entry: e})
}

func (l *Log) append(line *Line) error {
	text, err := line.encode(l.o.Now())
	if err != nil {
		return err
	}
	var late <-chan time.Time // never
	if l.o.Patience > 0 {
		timer := time.NewTimer(l.o.Patience)
		defer timer.Stop()
		late = timer.C
	}
	w := waiting{text, make(chan error, 1)}
	select {
	case <-l.closing:
		return ErrClosed
	case <-late: // the writer does not have it, so it will not be written
		return ErrSlow
	case l.lines <- w:
	}
	select {
	case err := <-w.done:
		return err
	case <-late:
		return ErrSlow
	}
}

// Head is the head of what is written, for the caller to keep elsewhere. With SyncEach it never runs ahead of the disk.
func (l *Log) Head() Head { return l.written.Load().head() }

// KeepHead puts the head beside the record. It is to be called each second.
func (l *Log) KeepHead() error {
	text, err := json.Marshal(l.Head())
	const size = 201 // less than a page, and over one as long: there is never half of each
	if err == nil {
		_, err = fmt.Fprintf(io.NewOffsetWriter(l.beside, 0), "%-*s\n", size-1, text)
		err = errors.Join(err, l.beside.Truncate(size))
	}
	if err != nil {
		return fmt.Errorf("record: keep the head: %w", err)
	}
	return nil
}

// Compare holds the record, as it was opened, against the last head that was kept elsewhere; nil: there is none. What
// is missing is noted in the record, and returned, unless Open found the same.
func (l *Log) Compare(seen *Head) (missing string, err error) {
	if missing = l.opened.lacks(seen); missing == "" || slices.Contains(l.repairs, missing) {
		return "", nil
	}
	return missing, l.append(repair(missing, seen))
}

// Err returns the last write's failure, nil once one has succeeded again.
func (l *Log) Err() error { return l.written.Load().err }

// Repairs tells what Open found wrong with the end of the record and noted there, a sentence each.
func (l *Log) Repairs() []string { return l.repairs }

// Close ends the writer once it has written what it has, and releases the record.
func (l *Log) Close() error {
	if l.closed.Swap(true) {
		return ErrClosed
	}
	close(l.closing)
	<-l.ended
	return errors.Join(l.KeepHead(), l.release())
}

func (l *Log) release() error { return errors.Join(files.Unlock(l.beside), l.beside.Close()) }
