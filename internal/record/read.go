package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

var errUnfinished = errors.New("no newline at the end")

// newScanner cuts a stream into whole lines. Its error is errUnfinished where the last one is none.
func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, MaxLine)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		i := bytes.IndexByte(data, '\n')
		switch {
		case i >= 0:
			return i + 1, data[:i], nil
		case atEOF && len(data) > 0:
			return 0, nil, errUnfinished
		}
		return 0, nil, nil
	})
	return s
}

// Line is an entry and its number.
type Line struct {
	Seq uint64
	Entry
}

// reader reads one file for people: it checks nothing but that a line can be decoded. For proof there is [VerifyFiles].
type reader struct {
	want  func(raw []byte) bool // nil: all
	yield func(Line, error) bool
}

// line hands out a line that is wanted. It reports whether there are to be more.
func (r *reader) line(path string, raw []byte) bool {
	if len(raw) == 0 || r.want != nil && !r.want(raw) {
		return true
	}
	l, err := parse(raw)
	if err != nil {
		return r.yield(Line{}, &BadLine{File: path, Reason: fmt.Sprintf("can't be decoded: %v", err)})
	}
	return r.yield(Line{l.Seq, l.Entry}, nil)
}

// in opens a file for one who reads it, and reports whether there are to be more.
func (r *reader) in(path string, read func(f *os.File, size int64) (bool, error)) bool {
	f, err := os.Open(path)
	if err != nil {
		r.yield(Line{}, err)
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	size, err := f.Seek(0, io.SeekEnd)
	more := true
	if err == nil {
		more, err = read(f, size)
	}
	if err != nil {
		r.yield(Line{}, err)
	}
	return more && err == nil
}

// Backward gives the entries of a record's files from the last to the first, so that a reader of the latest reads no
// more than that. Only lines that want likes, by their bytes, are decoded; nil likes all. One that can't be is left
// out: for proof there is [VerifyFiles].
func Backward(files []string, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r := reader{want, func(l Line, err error) bool {
			_, bad := errors.AsType[*BadLine](err)
			return bad || yield(l, err)
		}}
		for _, path := range slices.Backward(files) {
			if !r.in(path, func(f *os.File, size int64) (bool, error) {
				return backward(f, size, func(_ int64, raw []byte) bool { return r.line(path, raw) })
			}) {
				return
			}
		}
	}
}

const tailBlock = 64 << 10

// backward hands out the whole lines of a file from its end, with where each ends: what stands behind the last newline
// is none. It reports whether it was let to the beginning.
func backward(r io.ReaderAt, size int64, each func(end int64, raw []byte) bool) (bool, error) {
	end := int64(-1)
	var rest []byte // the end of a line that begins further up
	for at := size; at > 0; {
		n := min(at, tailBlock)
		at -= n
		block := make([]byte, n, n+int64(len(rest)))
		if _, err := r.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		block = append(block, rest...)
		for i := bytes.LastIndexByte(block, '\n'); i >= 0; i = bytes.LastIndexByte(block, '\n') {
			if end >= 0 && !each(end, block[i+1:]) {
				return false, nil
			}
			end, block = at+int64(i)+1, block[:i]
		}
		if rest = block; len(rest) > MaxLine {
			return false, bufio.ErrTooLong
		}
	}
	return end < 0 || each(end, rest), nil
}

// Since gives the entries of a record's files that were written at a time or later, in their order. A line that can't
// be read is a *[BadLine], after which there may be more; any other error is the last. It finds the place by the times
// of lines, and reads nothing of what is before.
func Since(files []string, at time.Time, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		first := len(files)
		for first > 0 && (first == len(files) || !startsBefore(files[first], at)) {
			first--
		}
		r := reader{want, func(l Line, err error) bool { return err == nil && l.At.Before(at) || yield(l, err) }}
		for _, path := range files[first:] {
			if !r.in(path, func(f *os.File, size int64) (bool, error) { return r.forward(f, path, size, at) }) {
				return
			}
		}
	}
}

func startsBefore(path string, at time.Time) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	t, _, err := timeAt(f, 0)
	return err == nil && t.Before(at)
}

// forward finds the place by halves, and reads on from there.
func (r *reader) forward(f io.ReaderAt, path string, size int64, at time.Time) (bool, error) {
	from := int64(0)
	for low, high := int64(0), size; high-low > tailBlock; {
		middle := low + (high-low)/2
		if t, start, err := timeAt(f, middle); err == nil && start < high && t.Before(at) {
			low, from = middle, start
		} else {
			high = middle
		}
	}
	s := newScanner(io.NewSectionReader(f, from, size-from))
	for s.Scan() {
		if !r.line(path, s.Bytes()) {
			return false, nil
		}
	}
	err := s.Err()
	if errors.Is(err, errUnfinished) || errors.Is(err, bufio.ErrTooLong) {
		return r.yield(Line{}, &BadLine{File: path, Reason: err.Error()}), nil
	}
	return err == nil, err
}

// timeAt is the time of the first line that begins at an offset or later, and where that is.
func timeAt(r io.ReaderAt, offset int64) (at time.Time, start int64, err error) {
	s := newScanner(io.NewSectionReader(r, max(0, offset-1), 2*MaxLine))
	if start = offset; offset > 0 && s.Scan() { // up to the next newline, which may be the byte before
		start += int64(len(s.Bytes()))
	}
	if !s.Scan() {
		return at, start, errors.Join(s.Err(), io.EOF)
	}
	var l struct {
		At time.Time `json:"at"`
	}
	err = json.Unmarshal(s.Bytes(), &l)
	return l.At, start, err
}

// Filter picks entries. Zero fields pick all.
type Filter struct {
	Since, Until time.Time // from Since, before Until
	Tool         string    // as judged or as sent
	Session      string    // session key or session id
	Agent        string
	Decision     string
	Ref          string // in any case: people type it
	Kind         string
	Person       string // in any case
}

// Match reports whether e is one to pick.
func (f Filter) Match(e Entry) bool {
	is := func(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }
	named := func(p Person) bool { return strings.EqualFold(p.Name, f.Person) }
	return (f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until)) &&
		is(f.Tool, e.Tool, e.Sent) && is(f.Session, e.Session, e.SessionID) && is(f.Agent, e.Agent) &&
		is(f.Decision, e.Decision) && is(f.Kind, string(e.Kind)) && (f.Ref == "" || strings.EqualFold(f.Ref, e.Ref)) &&
		(f.Person == "" || slices.ContainsFunc(e.People, named))
}
