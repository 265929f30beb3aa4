package record

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Why a record cannot be opened; found in an [OpenError].
var (
	ErrInUse       = errors.New("another process has the record open")
	ErrPermissions = errors.New("others than its owner may read or write the record")
	ErrDamaged     = errors.New("the record is damaged")
	ErrForged      = errors.New("it was begun with another key, or its first or last line is not the server's")
	ErrVersion     = errors.New("the record was written by another version of this program")
)

// OpenError is a refusal to open, with what the owner can do about it.
type OpenError struct {
	Path string
	Err  error
	Hint string
}

func (e *OpenError) Error() string { return fmt.Sprintf("record: %s: %v", e.Path, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }

func refuse(path string, err error) error {
	e := &OpenError{Path: path, Err: err}
	switch {
	case errors.Is(err, ErrInUse):
		e.Hint = "stop the other verifier, or give this one its own audit.path"
	case errors.Is(err, ErrPermissions):
		e.Hint = "chmod 600 " + path
	case errors.Is(err, ErrForged):
		e.Hint = "bring back the server's key if it was changed; else run `verifier audit verify`, keep the files as they " +
			"are, and move them away to begin a new record"
	case errors.Is(err, ErrDamaged):
		e.Hint = "run `verifier audit verify` to see the first bad line, then move the record's files away to begin a new one"
	case errors.Is(err, ErrVersion):
		e.Hint = "move the record's files away to begin a new one"
	}
	return e
}

// Open opens the record at path for writing, or begins it. An existing chain is continued; only its end is read,
// however long it is.
func Open(path string, o Options) (*Log, error) {
	w := newWriter(path, o)
	if err := w.start(); err != nil {
		return nil, err
	}
	go w.run()
	return w.Log, nil
}

func newWriter(path string, o Options) *writer {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Rand = cmp.Or(o.Rand, rand.Reader)
	return &writer{open: createFile, Log: &Log{
		o: o, path: filepath.Clean(path), rotation: o.Rotation,
		queue: make(chan *entry, maxQueued), quit: make(chan struct{}), ended: make(chan struct{}),
	}}
}

// start finds the end of the record, puts it right, and notes what it had to do.
func (w *writer) start() (err error) {
	if w.chain, err = newChain(w.o.Key); err != nil {
		return err
	}
	w.Log.chain, _ = newChain(w.o.Key) // as before
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return refuse(w.path, err)
	}
	if w.lock, err = openFile(headName(w.path), 0); err == nil {
		if err = lock(w.lock); err != nil {
			err = errors.Join(err, w.lock.Close())
		}
	}
	if err != nil {
		return refuse(headName(w.path), err)
	}
	notes, err := w.resume()
	if err == nil {
		err = w.repair(notes)
	}
	if err != nil {
		if w.disk != nil {
			err = errors.Join(err, w.disk.Close())
		}
		return errors.Join(refuse(cmp.Or(w.at, w.path), err), unlock(w.lock))
	}
	w.note(nil)
	return w.KeepHead()
}

// resume takes up the chain at its end, or begins one. Nothing is changed before all is known to be ours.
func (w *writer) resume() ([]Entry, error) {
	files, err := list(w.path)
	if err != nil {
		return nil, err
	}
	if w.number = 1; len(files) > 0 {
		w.number = files[len(files)-1].number
	}
	w.at = fileName(w.path, w.number)
	f, err := openFile(w.at, os.O_APPEND)
	if err != nil {
		return nil, err
	}
	w.disk = file{f}
	end, size, err := inspect(f, w.number, w.chain)
	if err != nil {
		return nil, err
	}
	last := end
	if end.seq == 0 && len(files) > 1 { // it was made, and not begun: it goes on behind the one before
		if last, err = inspectFile(files[len(files)-2], w.chain); err != nil {
			return nil, err
		}
	}
	w.id, w.seq, w.mac, w.lines = last.chain, last.seq, last.mac, end.lines
	w.size, w.torn = end.size, size > end.size
	notes, err := w.compare(last)
	if cut := size - end.size; cut > 0 {
		notes = append(notes, Entry{Note: fmt.Sprintf("cut %d bytes of an unfinished line from the end", cut)})
	}
	if err == nil {
		err = w.heal()
	}
	if err == nil && end.seq == 0 {
		err = w.beginAnew()
	}
	return notes, err
}

// beginAnew begins the file, and the chain where there is none.
func (w *writer) beginAnew() error {
	if w.id == "" {
		var id [16]byte
		if _, err := io.ReadFull(w.o.Rand, id[:]); err != nil {
			return err
		}
		w.id = hex.EncodeToString(id[:])
	}
	return w.begin()
}

// repair puts what was found into the record.
func (w *writer) repair(notes []Entry) error {
	for _, e := range notes {
		e.Kind = KindRepair
		e.normalise(w.o.Now())
		text, err := e.encode()
		if err == nil {
			err = w.add([]*entry{{text: text}})
		}
		if err != nil {
			return err
		}
		w.repairs = append(w.repairs, e.Note)
	}
	return nil
}

// compare holds the end of the record against the heads that were kept, beside it and elsewhere.
func (w *writer) compare(end ending) (notes []Entry, err error) {
	beside, err := readHead(w.lock)
	switch {
	case err != nil:
		notes = append(notes, Entry{Note: "the head that was kept beside the record can't be read: " + err.Error()})
	case beside == nil && end.seq > 0:
		notes = append(notes, Entry{Note: "no head is beside the record, where one was kept each second"})
	case beside != nil && beside.Chain == end.chain && beside.Seq < end.seq && w.Log.chain.sealed(*beside):
		notes = append(notes, Entry{Note: fmt.Sprintf(
			"entries %d to %d came after the last head that was kept: the process did not stop in good order", beside.Seq+1, end.seq)})
	}
	for _, head := range []*Head{w.o.Seen, beside} {
		if note := w.Log.chain.lacks(end, head); note != "" {
			return append(notes, Entry{Note: note, Lost: head}), nil // one of them says it all
		}
	}
	return notes, nil
}

// Compare holds the record against a head that was seen elsewhere, for a caller who could not learn of it before
// Open. What is missing is noted in the record, and returned.
func (l *Log) Compare(seen Head) (string, error) {
	l.mu.Lock()
	note := l.chain.lacks(ending{chain: l.last.Chain, seq: l.last.Seq, mac: l.last.MAC}, &seen)
	l.mu.Unlock()
	if note == "" {
		return "", nil
	}
	return note, l.append(&Entry{Kind: KindRepair, Note: note, Lost: &seen}, l.o.Patience)
}

// ending is what the two ends of a file tell about the chain in it. The zero ending is that of a file without a line.
type ending struct {
	chain string
	seq   uint64 // of the last line
	mac   string // of the last line
	size  int64  // up to and with the last line
	lines int    // 1, or 2 where there are more
}

// inspectFile inspects a file that is not written any more.
func inspectFile(n numbered, c chain) (ending, error) {
	f, err := os.Open(n.path)
	if err != nil {
		return ending{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	end, _, err := inspect(f, n.number, c)
	return end, err
}

// inspect reads the first line and the last ones. What comes after the last newline was never a line: the write was
// interrupted. A line with NUL bytes is none either: after a power cut, blocks that were not written read as NULs.
func inspect(f *os.File, number int, c chain) (end ending, size int64, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return end, 0, err
	}
	var last, before []byte
	_, err = backward(f, size, func(at int64, raw []byte) bool {
		switch {
		case last == nil && bytes.IndexByte(raw, 0) >= 0:
		case last == nil:
			last, end.size = bytes.Clone(raw), at
		default:
			before = bytes.Clone(raw)
		}
		return before == nil
	})
	if err != nil || last == nil {
		return end, size, errors.Join(err, onlyBegun(f, size))
	}
	first, err := firstLine(f, number, c)
	if err != nil {
		return end, size, err
	}
	prev := first.Begin.Prev
	if end.lines = 1; before != nil {
		end.lines = 2
		_, prev = cut(before)
	}
	l, err := parse(last)
	if err != nil || !c.follows(last, prev) {
		return end, size, ErrForged
	}
	end.chain, end.seq, end.mac = first.Begin.Chain, l.Seq, l.MAC
	return end, size, nil
}

// onlyBegun decides about a file without one whole line. It may be cut to nothing only if it looks like the start of a
// record: a path that names some other file by mistake must not cost that file.
func onlyBegun(r io.ReaderAt, size int64) error {
	const start = `{"seq":`
	have := make([]byte, min(size, int64(len(start))))
	if _, err := r.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	// A file that was lengthened but not filled before a power cut reads as NULs.
	if have, _, _ = bytes.Cut(have, []byte{0}); !bytes.HasPrefix([]byte(start), have) {
		return fmt.Errorf("%w: this is not a record", ErrDamaged)
	}
	return nil
}

// maxBegin is more than any begin line has: some 300 bytes.
const maxBegin = 4096

// firstLine returns the begin line of a file that has whole lines.
func firstLine(r io.ReaderAt, number int, c chain) (line, error) {
	have := make([]byte, maxBegin)
	n, err := r.ReadAt(have, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}
	raw, _, _ := bytes.Cut(have[:n], []byte("\n"))
	l, err := parse(raw)
	switch {
	case err != nil || l.Kind != KindBegin || l.Begin == nil:
		return l, fmt.Errorf("%w: it does not begin as a record", ErrDamaged)
	case l.Begin.Format != format:
		return l, fmt.Errorf("%w (format %d, this one writes %d)", ErrVersion, l.Begin.Format, format)
	case !c.follows(raw, l.Begin.Prev):
		return l, ErrForged
	case l.Begin.File != number:
		return l, fmt.Errorf("%w: it is file %d of its record by its first line", ErrDamaged, l.Begin.File)
	}
	return l, nil
}
