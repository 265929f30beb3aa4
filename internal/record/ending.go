package record

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// ending is what the two ends of a file tell about the chain in it. The zero
// ending is that of a file without one.
type ending struct {
	chain        string
	number       int // of the file in the chain
	after        *Past
	first        uint64 // the number of its first line
	last         state
	checkpointed bool // the last line is a checkpoint
}

// owner is the key that a record is kept with, as its lines show it.
type owner struct {
	key string // the public half, in hex
	mac hash.Hash
}

// inspect reads the first and the last complete line. What comes after the last
// newline was never a line: the write was interrupted. A line with NUL bytes is
// none either: after a power cut, blocks that were not written read as NULs.
//
// Both lines must carry a MAC that is right. The MAC of the last one vouches for all before it, which its hash
// covers: if it is right, an unsigned end is what a crash left.
func inspect(r io.ReaderAt, size int64, by owner) (ending, error) {
	end, err := lastWhole(r, size)
	if err != nil {
		return ending{}, err
	}
	if end == 0 {
		return ending{}, onlyBegun(r, size)
	}
	first, err := firstLine(r, end, by)
	if err != nil {
		return ending{}, err
	}
	_, last, err := lineBefore(r, end, by.mac)
	if err != nil {
		return ending{}, err
	}
	e := ending{
		chain: first.Begin.Chain, number: max(1, first.Begin.File), after: first.Begin.After,
		first: first.Seq, checkpointed: last.Kind == KindCheckpoint,
	}
	e.last = state{seq: last.Seq, size: end}
	copy(e.last.hash[:], last.Hash)
	return e, nil
}

// lastWhole returns where the last line ends that holds no NUL bytes.
func lastWhole(r io.ReaderAt, size int64) (int64, error) {
	end, err := newlineBefore(r, size)
	for err == nil && end > 0 {
		var start int64
		var raw []byte
		if start, raw, err = rawBefore(r, end); err != nil || bytes.IndexByte(raw, 0) < 0 {
			break
		}
		end = start
	}
	return end, err
}

// onlyBegun decides about a file without one complete line. It may be cut to
// nothing only if it looks like the start of a record: a path that names some
// other file by mistake must not cost that file.
func onlyBegun(r io.ReaderAt, size int64) error {
	zero := zeros()
	start := `{"seq":1,"prev":"` + string(zero[:]) + `","kind":"begin"`
	have := make([]byte, min(size, int64(len(start))))
	if _, err := r.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	// A file that was lengthened but not filled before a power cut reads as NULs.
	have = bytes.TrimRight(have, "\x00")
	if !strings.HasPrefix(start, string(have)) {
		return fmt.Errorf("%w: this is not a record", ErrDamaged)
	}
	return nil
}

// maxBegin is more than any begin line has: some 800 bytes, and a file's name.
const maxBegin = 4096

// firstLine returns the begin line of a file whose complete lines reach to end.
func firstLine(r io.ReaderAt, end int64, by owner) (line, error) {
	have := make([]byte, min(end, maxBegin))
	if _, err := r.ReadAt(have, 0); err != nil {
		return line{}, err
	}
	raw, _, _ := bytes.Cut(have, []byte("\n"))
	l, err := sound(raw, nil)
	switch {
	case err != nil:
	case l.Kind != KindBegin || l.Begin == nil:
		err = fmt.Errorf("%w: it does not begin as a record", ErrDamaged)
	case l.Begin.Key != by.key:
		err = ErrOtherKey
	case l.Begin.Format != format:
		err = fmt.Errorf("%w (format %d, this one writes %d)", ErrVersion, l.Begin.Format, format)
	case !genuine(raw, by.mac):
		err = fmt.Errorf("%w: its first line does not carry this server's MAC", ErrForged)
	}
	return l, err
}

// lineBefore returns the line whose newline is right before end, and where
// it starts. With a nil mac its MAC is not checked.
func lineBefore(r io.ReaderAt, end int64, mac hash.Hash) (int64, line, error) {
	start, raw, err := rawBefore(r, end)
	if err != nil {
		return 0, line{}, err
	}
	l, err := sound(raw, mac)
	return start, l, err
}

// rawBefore returns the same line as it is in the file.
func rawBefore(r io.ReaderAt, end int64) (int64, []byte, error) {
	start, err := newlineBefore(r, end-1)
	if err != nil {
		return 0, nil, err
	}
	if end-start > MaxLine {
		return 0, nil, fmt.Errorf("%w: its last line is too long", ErrDamaged)
	}
	raw := make([]byte, end-1-start)
	_, err = r.ReadAt(raw, start)
	return start, raw, err
}

// sound decodes a line that is what its hash says and, unless mac is nil, its MAC.
func sound(raw []byte, mac hash.Hash) (line, error) {
	if !intact(raw) {
		return line{}, fmt.Errorf("%w: a line at its start or end does not match its hash", ErrDamaged)
	}
	if mac != nil && !genuine(raw, mac) {
		return line{}, fmt.Errorf("%w: its last line does not carry this server's MAC", ErrForged)
	}
	l, err := parse(raw)
	if err != nil {
		return line{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l, nil
}

// newlineBefore returns the offset after the last newline in front of end, or
// 0. It reads backwards in growing steps: most lines are short.
func newlineBefore(r io.ReaderAt, end int64) (int64, error) {
	for step := int64(4 << 10); end > 0; step = min(2*step, 1<<20) {
		buf := make([]byte, min(step, end))
		end -= int64(len(buf))
		if _, err := r.ReadAt(buf, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// lacks returns a sentence if the seen head is not in the file. Heads are kept
// every second, so the walk back from the end is short.
func (e ending) lacks(r io.ReaderAt, seen Head) (string, error) {
	if e.chain != seen.Chain {
		return fmt.Sprintf("this is not the chain seen last, %s, which had %d entries", seen.Chain, seen.Seq), nil
	}
	if e.last.seq < seen.Seq {
		return fmt.Sprintf("entries %d to %d, seen before, are missing from the end of the file", e.last.seq+1, seen.Seq), nil
	}
	for end := e.last.size; end > 0; {
		start, l, err := lineBefore(r, end, nil)
		if err != nil {
			return "", err
		}
		if l.Seq <= seen.Seq {
			return differs(l, seen), nil
		}
		end = start
	}
	return e.before(seen), nil
}

// before decides about an entry that was seen and belongs to a file before this one. The
// file before may be anywhere by now; what it ended with is signed here.
func (e ending) before(seen Head) string {
	if e.after == nil || e.after.Head.Seq < seen.Seq {
		return fmt.Sprintf("entry %d, seen before, is not in the file", seen.Seq)
	}
	if e.after.Head.Seq == seen.Seq && e.after.Head.Hash != seen.Hash {
		return fmt.Sprintf("entry %d is not the one seen before: the end of %s was rewritten", seen.Seq, visible(e.after.File))
	}
	return ""
}

func differs(l line, seen Head) string {
	if l.Seq == seen.Seq && l.Hash == seen.Hash {
		return ""
	}
	return fmt.Sprintf("entry %d is not the one seen before: the end of the file was rewritten", seen.Seq)
}
