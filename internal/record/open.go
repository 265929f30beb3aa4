package record

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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
		o: o, path: filepath.Clean(path), rotation: o.Rotation,
		queue: make(chan *waiting, maxQueued), quit: make(chan struct{}), ended: make(chan struct{}),
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
	if w.lock != nil {
		err = errors.Join(err, files.Unlock(w.lock), w.lock.Close())
	}
	return nil, fmt.Errorf("record: %s: %w", w.at, err)
}

// start finds the end of the record, puts it right, and notes what it had to do. Nothing is changed before all is
// known to be ours.
func (w *writer) start() (err error) {
	if w.chain, err = newChain(w.o.Key); err != nil {
		return err
	}
	w.Log.chain, _ = newChain(w.o.Key) // as before
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return err
	}
	if w.lock, err = openFile(w.at, 0); err != nil {
		return err
	}
	if err := files.Lock(w.lock); errors.Is(err, files.ErrLocked) {
		return ErrInUse
	} else if err != nil {
		return err
	}
	files, _ := Files(w.path) // there may be none
	for _, w.at = range files {
		f, err := openFile(w.at, 0)
		if err != nil {
			return err
		}
		f.Close() //nolint:errcheck // only its mode was looked at
	}
	end, torn, err := w.lastFile(files)
	if err != nil {
		return err
	}
	w.id, w.seq, w.mac, w.lines, w.size, w.torn = end.chain, end.seq, end.mac, end.lines, end.size, torn > 0
	notes := w.compare(end)
	if torn > 0 {
		notes = append(notes, Entry{Note: fmt.Sprintf("cut %d bytes of an unfinished line from the end", torn)})
	}
	return w.resume(notes)
}

// lastFile opens the last file and finds its end, and how much is behind it. One that was made and not begun is
// removed, and made again when it is due.
func (w *writer) lastFile(files []string) (end ending, torn int64, err error) {
	if w.number = 1; len(files) > 0 {
		_, w.number = Base(files[len(files)-1])
	}
	w.at = fileName(w.path, w.number)
	f, err := openFile(w.at, os.O_APPEND)
	if err != nil {
		return end, 0, err
	}
	w.disk = f
	end, size, err := inspect(f, w.number, w.chain)
	if err == nil && end.seq == 0 && len(files) > 1 {
		if err = errors.Join(os.Remove(w.at), f.Close()); err == nil {
			return w.lastFile(files[:len(files)-1])
		}
	}
	return end, size - end.size, err
}

// resume makes the file ready for the next line.
func (w *writer) resume(notes []Entry) error {
	if err := w.heal(); err != nil {
		return err
	}
	if w.id == "" {
		w.id = rand.Text()
		if err := w.begin(); err != nil {
			return err
		}
	}
	for _, e := range notes {
		e.Kind = KindRepair
		if err := w.own(e); err != nil {
			return err
		}
		w.repairs = append(w.repairs, e.Note)
	}
	return nil
}

// compare holds the end of the record against the heads that were kept, beside it and elsewhere.
func (w *writer) compare(end ending) (notes []Entry) {
	beside, err := HeadBeside(w.path)
	switch {
	case err != nil:
		beside, notes = nil, []Entry{{Note: "the head that was kept beside the record can't be read"}}
	case beside == nil && end.seq > 0:
		notes = []Entry{{Note: "no head is beside the record, where one was kept each second"}}
	case beside != nil && beside.Chain == end.chain && beside.Seq < end.seq && w.chain.sealed(*beside):
		const tail = "entries %d to %d came after the last head that was kept: the process did not stop in good order"
		notes = []Entry{{Note: fmt.Sprintf(tail, beside.Seq+1, end.seq)}}
	}
	for _, head := range []*Head{w.o.Seen, beside} {
		if note := w.chain.lacks(end, head); note != "" {
			return append(notes, Entry{Note: note, Lost: head}) // one of them says it all
		}
	}
	return notes
}

// Compare holds the record against a head that was seen elsewhere, for a caller who could not learn of it before
// Open. What is missing is noted in the record, and returned.
func (l *Log) Compare(seen Head) (missing string, err error) {
	l.mu.Lock()
	missing = l.chain.lacks(ending{chain: l.last.Chain, seq: l.last.Seq, mac: l.last.MAC}, &seen)
	l.mu.Unlock()
	if missing != "" {
		err = l.append(&Entry{Kind: KindRepair, Note: missing, Lost: &seen}, l.o.Patience)
	}
	return missing, err
}

// ending is what the two ends of a file tell about the chain in it. The zero ending is that of a file without a line.
type ending struct {
	chain string
	seq   uint64 // of the last line
	mac   string // of the last line
	size  int64  // up to and with the last line
	lines int    // 1, or 2 where there are more
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
			last, end.size, end.lines = bytes.Clone(raw), at, 1
		default:
			before, end.lines = bytes.Clone(raw), 2
		}
		return before == nil
	})
	have := make([]byte, maxBegin)
	n, errRead := f.ReadAt(have, 0)
	if errors.Is(errRead, io.EOF) {
		errRead = nil
	}
	if err = errors.Join(err, errRead); err != nil {
		return end, size, err
	}
	if last == nil {
		return end, size, onlyBegun(have[:n])
	}
	begin, prev, err := firstLine(have[:n], number, c)
	if before != nil {
		_, prev = cut(before)
	}
	l, errParse := parse(last)
	if err == nil && (errParse != nil || !c.follows(last, prev)) {
		err = ErrForged
	}
	end.chain, end.seq, end.mac = begin.Chain, l.Seq, l.MAC
	return end, size, err
}

// onlyBegun decides about a file without one whole line. It may be cut to nothing only if it looks like the start of a
// record: a path that names some other file by mistake must not cost that file. NULs are what a power cut leaves.
func onlyBegun(have []byte) error {
	const start = `{"seq":`
	if have, _, _ = bytes.Cut(have[:min(len(have), len(start))], []byte{0}); !bytes.HasPrefix([]byte(start), have) {
		return fmt.Errorf("%w: this is not a record", ErrDamaged)
	}
	return nil
}

// maxBegin is more than any begin line has: some 300 bytes.
const maxBegin = 4096

// firstLine reads the begin line of a file, and gives the MAC that is before the next.
func firstLine(have []byte, number int, c chain) (Begin, string, error) {
	raw, _, _ := bytes.Cut(have, []byte("\n"))
	l, err := parse(raw)
	switch {
	case err != nil || l.Kind != KindBegin || l.Begin == nil:
		return Begin{}, "", fmt.Errorf("%w: it does not begin as a record", ErrDamaged)
	case l.Begin.Format != format:
		return Begin{}, "", fmt.Errorf("%w (format %d, this one writes %d)", ErrVersion, l.Begin.Format, format)
	case !c.follows(raw, l.Begin.Prev):
		return Begin{}, "", ErrForged
	case l.Begin.File != number:
		return Begin{}, "", fmt.Errorf("%w: it is file %d of its record by its first line", ErrDamaged, l.Begin.File)
	}
	return *l.Begin, l.Begin.Prev, nil
}
