package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// ErrHead says that the head to verify against is not under the key of the record: it proves nothing, for or against.
var ErrHead = errors.New("record: the head is not under the record's key")

// VerifyOptions is what is known about a record apart from its files.
type VerifyOptions struct {
	Key   hmac.Key // the server's, under which the record was written
	Head  *Head    // nil: lines cut from the end cannot be noticed
	Whole bool     // the files are all there are: a missing first file is a loss, unless the record tells why
}

// Report is what was found, up to the first bad line.
type Report struct {
	Files, Lines int
	Entries      int // lines that are not the log's own
	Repairs      int // notes about the end of the record; read them
	First, Last  time.Time
	HeadChecked  bool
	Unfinished   bool       // the last line is: a write was interrupted, or is going on
	Before       uint64     // entries before the first file, which is not looked at; 0: the chain begins in it
	Removed      bool       // the record says that they were removed, as configured
	Losses       []*BadLine // what was once seen of the record and is not in it, and where that shows
}

// VerifyFiles reads a record's files, in the order of its chain. It names the first line that is not as it was
// written, and a file that is missing between two others, or was cut, replaced or swapped.
func VerifyFiles(paths []string, o VerifyOptions) (Report, error) {
	key, err := newKey(o.Key)
	if err != nil {
		return Report{}, err
	}
	c := checker{chain: chain{key: key}}
	if o.Head != nil && c.sealed(o.Head) {
		c.head = o.Head
	}
	for i, path := range paths {
		if err = c.file(path, i == len(paths)-1); err != nil {
			return c.Report, err
		}
	}
	if o.Head != nil && c.head == nil {
		return c.Report, ErrHead
	}
	return c.Report, c.end(o.Whole)
}

// checker walks along a chain.
type checker struct {
	Report
	chain
	head         *Head
	first        string // the first file
	began        int    // its number
	path, before string // of the file that is being read, and the one before it
	lines        int    // good ones in the file
	removed      int    // the number of the last file that the record says was removed
}

func (c *checker) file(path string, last bool) error {
	c.before, c.path, c.lines = c.path, path, 0
	for p, err := range lines(path, 0) {
		bad, ok := errors.AsType[*BadLine](err)
		switch {
		case last && c.lines > 0 && errors.Is(err, errUnfinished):
			c.Unfinished, err = true, nil
		case ok:
			err = c.bad("%w", bad.Err)
		case err == nil:
			err = c.line(p.raw)
		}
		if err != nil {
			return err
		}
	}
	if c.Files++; c.lines == 0 {
		return c.bad("is missing: the file is empty")
	}
	return nil
}

func (c *checker) bad(format string, args ...any) error {
	return &BadLine{c.path, c.lines + 1, fmt.Errorf(format, args...)}
}

func (c *checker) loss(file string, line int, format string, args ...any) {
	c.Losses = append(c.Losses, &BadLine{file, line, fmt.Errorf(format, args...)})
}

func (c *checker) line(raw []byte) error {
	if c.lines == 0 {
		if err := c.opening(raw); err != nil {
			return err
		}
	}
	l, err := c.follow(raw)
	switch h := c.head; {
	case err != nil:
		return c.bad("%w", err)
	case h != nil && h.Chain == c.last.Chain && h.Seq == l.Seq:
		if c.HeadChecked = h.MAC == l.MAC; !c.HeadChecked {
			return c.bad("is not the entry %d that the store has seen: it or a line before it was rewritten", l.Seq)
		}
	}
	c.count(&l)
	return nil
}

// opening checks that a file goes on where the one before it ended, as its first line says.
func (c *checker) opening(raw []byte) error {
	_, number := Base(filepath.Base(c.path))
	end, before := c.last, filepath.Base(c.before)
	b, err := c.begin(raw, number)
	switch {
	case err != nil:
		return c.bad("%w", err)
	case c.Files == 0:
		c.first, c.began, c.Before = c.path, b.File, c.last.Seq
	case b.Chain != end.Chain:
		c.loss(c.path, 1, "another record begins here: the one before it goes to entry %d, in %s, and what came after "+
			"that is not there", end.Seq, before)
	case c.last.Seq > end.Seq:
		return c.bad("follows entry %d, and %s ends with %d: a file between them is missing, or that one was cut",
			c.last.Seq, before, end.Seq)
	case c.last != end:
		return c.bad("does not follow %s as it is now: one of the two was replaced or is there twice", before)
	}
	return nil
}

// count accepts l.
func (c *checker) count(l *Line) {
	c.Lines++
	c.lines++
	c.Last = l.At
	if c.First.IsZero() {
		c.First = l.At
	}
	c.removed = max(c.removed, l.Removed)
	switch l.Kind { //nolint:exhaustive // the log's own kinds
	case KindBegin:
	case KindRepair:
		if c.Repairs++; l.Lost != nil {
			c.loss(c.path, c.lines, "%s (noticed %s)", l.Note, l.At.Format("2006-01-02 15:04:05Z"))
		}
	default:
		c.Entries++
	}
}

// end judges what no single line shows.
func (c *checker) end(whole bool) error {
	c.Removed = c.began > 1 && c.removed >= c.began-1
	if note := c.lacks(c.head); note != "" && c.head.Chain == c.last.Chain {
		return c.bad("%s", note)
	} else if note != "" {
		c.loss(c.path, c.lines, "%s", note)
	}
	if whole && c.began > 1 && !c.Removed {
		c.loss(c.first, 1, "is file %d of the record: those before it are gone, and the record does not say that they "+
			"were removed", c.began)
	}
	return nil
}
