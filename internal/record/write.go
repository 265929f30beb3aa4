package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openclaw-verifier/verifier/internal/files"
)

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
	disk disk
	info os.FileInfo // which file it is
	at   string      // where that is
	size int64       // up to and with the last line
	torn bool        // the file may be longer than that
	buf  []byte
}

// run writes what waits, until the log is closed.
func (w *writer) run() {
	defer close(w.ended)
	for {
		var all []waiting
		select {
		case first := <-w.lines:
			all = w.others(first)
		case <-w.closing:
			w.note(w.disk.Close())
			return
		}
		err := w.write(all)
		w.note(err)
		for _, one := range all {
			one.done <- err
		}
	}
}

// others gives all lines that wait, with the first.
func (w *writer) others(first waiting) []waiting {
	for all := []waiting{first}; ; {
		select {
		case next := <-w.lines:
			all = append(all, next)
		default:
			return all
		}
	}
}

// note tells the readers of the log how far it is.
func (w *writer) note(err error) { w.written.Store(&progress{w.chain, err}) }

// write puts lines where they belong, all of them or none.
func (w *writer) write(all []waiting) error {
	there, err := os.Lstat(w.at) //nolint:gosec // the owner's config says where it is
	if err != nil || !os.SameFile(w.info, there) || there.Size() < w.size || there.Size() > w.size && !w.torn {
		return ErrGone
	}
	if err := w.heal(); err != nil {
		return err
	}
	if err := w.turnOver(); err != nil {
		return err
	}
	return w.add(all...)
}

// add appends lines. After a failed sync the kernel may have dropped the pages and forgotten about them, so a second
// try would prove nothing: all of them count as not written.
func (w *writer) add(all ...waiting) error {
	buf, before := w.buf[:0], w.last
	for _, one := range all {
		buf = w.chain.add(buf, one.text)
	}
	if w.buf = buf; cap(buf) > 1<<20 {
		w.buf = nil
	}
	w.torn = true
	_, err := w.disk.Write(buf)
	if err == nil && w.o.SyncEach {
		err = w.disk.Sync()
	}
	if err != nil {
		w.last = before
		w.heal() //nolint:errcheck // stays torn; the next write heals first
		return fmt.Errorf("record: write: %w", err)
	}
	w.size, w.torn = w.size+int64(len(buf)), false
	return nil
}

// own writes a line of the log's own.
func (w *writer) own(l *Line) error {
	text, err := l.encode(w.o.Now())
	if err != nil {
		return err
	}
	return w.add(waiting{text: text})
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
	if w.o.Rotation == nil {
		return nil
	}
	bytes, keep := w.o.Rotation()
	if bytes <= 0 || w.size < bytes {
		return nil
	}
	before := w.disk
	if err := w.openNext(); err != nil {
		return fmt.Errorf("record: go on in a new file: %w", err)
	}
	before.Close() //nolint:errcheck // it was written, and synced where it had to be
	if keep > 0 {
		w.thin(keep)
	}
	return nil
}

// openNext begins the next file. It takes its name with its first line in it and on the disk, so that no file is found
// without.
func (w *writer) openNext() error {
	next := *w
	next.at = fileName(w.path, w.number+1)
	first := Line{Entry: Entry{Kind: kindBegin}, Begin: &Begin{format, w.last.Chain, w.number + 1, w.last.MAC}}
	text, err := first.encode(w.o.Now())
	if err == nil {
		err = files.Create(next.at, next.chain.add(nil, text))
	}
	if err != nil {
		return err
	}
	if w.o.SyncEach {
		err = files.SyncDir(filepath.Dir(next.at)) // its name has to survive a power cut like its lines
	}
	if err == nil {
		err = next.openLast()
	}
	if err != nil {
		if next.disk != w.disk {
			err = errors.Join(err, next.disk.Close())
		}
		return errors.Join(err, os.Remove(next.at))
	}
	*w = next
	return nil
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
		gone := &Line{Entry: Entry{Kind: KindNote, Note: "removed a file of the record, as configured"}, Removed: n}
		if w.own(gone) != nil || os.Remove(path) != nil { //nolint:gosec // the owner's config says where it is
			return
		}
	}
}
