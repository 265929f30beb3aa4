package record

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// Refusal is why a record can't be opened, and what its owner can do about it.
type Refusal struct{ What, Hint string }

func (r *Refusal) Error() string { return r.What }

// Why a record can't be opened.
var (
	ErrInUse = &Refusal{"another process has the record open",
		"stop the other verifier, or give this one its own audit.path"}
	ErrNoFile = &Refusal{"it is a link, or something else that is not a plain file",
		"put the file itself there, or name its place as audit.path"}
	ErrPermissions = &Refusal{"others than its owner may read or write the record", "chmod 600 its files"}
	ErrVersion     = &Refusal{"the record was written by another version of this program",
		"move the record's files away to begin a new one"}
	ErrDamaged = &Refusal{"the record is damaged",
		"run `verifier audit verify` to see the first bad line, then move the record's files away to begin a new one"}
	ErrForged = &Refusal{"it was begun with another key, or its first or last line is not the server's",
		"bring back the server's key if it was changed; else run `verifier audit verify`, keep the files as they " +
			"are, and move them away to begin a new record"}
)

// Open opens the record at path for writing, or begins it. An existing chain is continued; only its end is read,
// however long it is.
func Open(path string, o Options) (*Log, error) {
	w, err := open(path, o)
	if err != nil {
		return nil, err
	}
	go w.run()
	return w.Log, nil
}

func open(path string, o Options) (*writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &writer{Log: &Log{
		o: o, path: filepath.Clean(path),
		lines: make(chan waiting), closing: make(chan struct{}), ended: make(chan struct{}),
	}}
	w.at = headName(w.path)
	err := w.start()
	if err == nil {
		w.note(nil)
		err = w.KeepHead()
	}
	if err == nil {
		return w, nil
	}
	if w.disk != nil {
		err = errors.Join(err, w.disk.Close())
	}
	if w.beside != nil {
		err = errors.Join(err, w.release())
	}
	return nil, fmt.Errorf("record: %s: %w", w.at, err)
}

// start finds the end of the record, puts it right, and notes what it had to do. Nothing is changed before all is
// known to be ours.
func (w *writer) start() (err error) {
	if w.chain, err = newChain(w.o.Key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return err
	}
	if w.beside, _, err = openFile(w.at, 0); err == nil {
		err = files.Lock(w.beside)
	}
	if errors.Is(err, files.ErrLocked) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	all, err := Files(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // else it is not begun
		return err
	}
	for _, w.at = range all {
		if _, err := private(w.at); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		w.last.Chain = rand.Text()
		err = w.openNext()
	} else {
		err = w.openLast()
	}
	if err != nil {
		return err
	}
	w.opened = w.chain
	torn := w.info.Size() - w.size
	if err = w.heal(); err == nil && torn > 0 {
		err = w.repair(fmt.Sprintf("cut %d bytes of an unfinished line from the end", torn), nil)
	}
	return cmp.Or(err, w.compare())
}

// repair is a line that notes what was wrong with the end of the record, and what is lost of it.
func repair(note string, lost *Head) *Line {
	return &Line{Entry: Entry{Kind: kindRepair, Note: note}, Lost: lost}
}

func (w *writer) repair(note string, lost *Head) error {
	w.repairs = append(w.repairs, note)
	return w.own(repair(note, lost))
}

// compare holds the record, as it was opened, against the head that was kept beside it.
func (w *writer) compare() error {
	beside, err := HeadBeside(w.path)
	end := w.opened.last
	missing := w.opened.lacks(beside)
	switch {
	case err != nil:
		return w.repair("the head that was kept beside the record can't be read", nil)
	case missing != "":
		return w.repair(missing, beside)
	case beside == nil && end.Seq > 1: // the first line is there before a head is
		return w.repair("no head is beside the record, where one was kept each second", nil)
	case beside != nil && beside.Seq < end.Seq:
		return w.repair(fmt.Sprintf("entries %d to %d came after the last head that was kept: the process did not "+
			"stop in good order", beside.Seq+1, end.Seq), nil)
	}
	return nil
}

// openLast opens the last file, which is at w.at, and finds its end. What comes after the last newline was never a
// line: the write was interrupted. A line with NUL bytes is none either: after a power cut, blocks that were not
// written read as NULs.
func (w *writer) openLast() error {
	f, info, err := openFile(w.at, os.O_APPEND)
	if err != nil {
		return err
	}
	w.disk, w.info = f, info
	if err := w.begin(firstLine(w.at, 0), w.at); err != nil {
		return err
	}
	var last []byte
	for l, err := range lines(w.at, 0, true) {
		if err != nil {
			return err
		}
		if last != nil {
			before, err := parse(l.Text)
			if err != nil {
				return ErrForged
			}
			w.last.Seq, w.last.MAC = before.Seq, before.MAC
			break
		}
		if l.bad == nil && bytes.IndexByte(l.Text, 0) < 0 {
			last, w.size = l.Text, l.at+int64(len(l.Text))+1
		}
	}
	if _, err := w.follow(last); err != nil {
		return ErrForged
	}
	if w.torn = info.Size() > w.size; info.Size() > w.size+MaxLine {
		return fmt.Errorf("%w: what is behind its last line is more than a line", ErrDamaged)
	}
	return nil
}
