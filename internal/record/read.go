package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

var (
	errUnfinished = errors.New("no newline at the end")
	errLong       = errors.New("line too long")
)

// scanner cuts a stream into lines. Unlike bufio.Scanner it tells a line without
// its newline from one with, and survives a line that is too long.
type scanner struct {
	r   *bufio.Reader
	buf []byte
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its newline, valid until the next call.
func (s *scanner) next() ([]byte, error) {
	s.buf = s.buf[:0]
	long := false
	for {
		part, err := s.r.ReadSlice('\n')
		if long = long || len(s.buf)+len(part) > MaxLine; !long {
			s.buf = append(s.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (long || len(s.buf) > 0):
			return nil, errUnfinished
		case err != nil:
			return nil, err
		case long:
			return nil, errLong
		}
		return s.buf[:len(s.buf)-1], nil
	}
}

// Line is an entry and its place.
type Line struct {
	Number int // in the file, from one
	Seq    uint64
	Entry
}

// Read gives the entries of a record for people to look at. It checks nothing
// but that a line can be decoded; one that cannot comes as a *[BadLine] and
// reading goes on. Any other error is the last. For proof there is [VerifyFiles].
func Read(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s := newScanner(r)
		for n := 1; ; n++ {
			l, err := s.entry(n)
			if errors.Is(err, io.EOF) {
				return
			}
			var bad *BadLine
			if !yield(l, err) || err != nil && !errors.As(err, &bad) {
				return
			}
		}
	}
}

func (s *scanner) entry(n int) (Line, error) {
	raw, err := s.next()
	if errors.Is(err, errUnfinished) || errors.Is(err, errLong) {
		return Line{Number: n}, &BadLine{Line: n, Reason: err.Error()}
	}
	if err != nil {
		return Line{Number: n}, fmt.Errorf("audit: line %d: %w", n, err)
	}
	l, err := parse(raw)
	if err != nil {
		return Line{Number: n}, &BadLine{Line: n, Reason: fmt.Sprintf("cannot be decoded: %v", err)}
	}
	return Line{Number: n, Seq: l.Seq, Entry: l.Entry}, nil
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
	return (f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until)) &&
		is(f.Tool, e.Tool, e.Sent) &&
		is(f.Session, e.Session, e.SessionID) &&
		is(f.Agent, e.Agent) &&
		is(f.Decision, e.Decision) &&
		is(f.Kind, string(e.Kind)) &&
		(f.Ref == "" || strings.EqualFold(f.Ref, e.Ref)) &&
		(f.Person == "" || slices.ContainsFunc(e.People, func(p Person) bool { return strings.EqualFold(p.Name, f.Person) }))
}

func is(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }
