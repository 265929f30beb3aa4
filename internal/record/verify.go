package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

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
	key, err := newChain(o.Key)
	c := checker{chain: key, seen: o.Head}
	for i := 0; err == nil && i < len(paths); i++ {
		err = c.file(paths[i], i == len(paths)-1)
	}
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return c.Report, err
	}
	c.Removed = c.began > 1 && c.removed >= c.began-1
	if o.Whole && c.began > 1 && !c.Removed {
		c.Losses = append(c.Losses, &BadLine{paths[0], 1, fmt.Errorf("is file %d of the record: those before it are "+
			"gone, and the record does not say that they were removed", c.began)})
	}
	return c.Report, nil
}

// checker walks along a chain.
type checker struct {
	Report
	chain
	seen    *Head
	began   int    // the number of the first file
	path    string // of the file that is being read
	lines   int    // good ones in it
	removed int    // the number of the last file that the record says was removed
}

func (c *checker) file(path string, last bool) error {
	before := filepath.Base(c.path)
	c.path, c.lines = path, 0
	for l, err := range lines(path, 0, false) {
		switch {
		case last && c.lines > 0 && errors.Is(l.bad, errUnfinished):
			c.Unfinished = true
			continue
		case l.bad != nil:
			err = c.here("%w", l.bad)
		case err == nil && c.lines == 0:
			err = c.opening(l.Text, before)
		}
		if err == nil {
			err = c.line(l.Text)
		}
		if err != nil {
			return err
		}
	}
	if c.Files++; c.lines == 0 {
		return c.here("is missing: the file is empty")
	}
	return nil
}

// here says what is wrong with the next line.
func (c *checker) here(format string, args ...any) *BadLine {
	return &BadLine{c.path, c.lines + 1, fmt.Errorf(format, args...)}
}

// opening checks that a file goes on where the one before it ended, as its first line says.
func (c *checker) opening(raw []byte, before string) error {
	end := c.last
	err := c.begin(raw, c.path)
	switch {
	case err != nil:
		return c.here("%w", err)
	case c.Files == 0:
		c.began, c.Before = c.number, c.last.Seq
	case c.last.Chain == end.Chain && c.last.Seq > end.Seq:
		return c.here("follows entry %d, and %s ends with %d: a file between them is missing, or that one was cut",
			c.last.Seq, before, end.Seq)
	case c.last != end:
		return c.here("does not follow %s as it is now: one of the two was replaced or is there twice", before)
	}
	return nil
}

func (c *checker) line(raw []byte) error {
	l, err := c.follow(raw)
	if err != nil {
		return c.here("%w", err)
	}
	if c.seen != nil && c.seen.Seq == l.Seq {
		note := c.lacks(c.seen)
		if note != "" && c.seen.Chain == c.last.Chain {
			return c.here("%s", note)
		}
		c.HeadChecked = note == ""
	}
	switch l.Kind {
	case kindBegin:
	case kindRepair:
		if c.Repairs++; l.Lost != nil {
			c.Losses = append(c.Losses, c.here("%s (noticed %s)", l.Note, l.At.Format("2006-01-02 15:04:05Z")))
		}
	default:
		c.Entries++
	}
	c.Lines++
	c.lines++
	if c.Last = l.At; c.First.IsZero() {
		c.First = l.At
	}
	c.removed = max(c.removed, l.Removed)
	return nil
}

// end holds the chain against the head that was seen. The head of another record shows what was lost, and no bad line.
func (c *checker) end() error {
	note := c.lacks(c.seen)
	if note == "" {
		return nil
	}
	bad := c.here("%s", note)
	if c.seen.Chain == c.last.Chain || !c.sealed(c.seen) {
		return bad
	}
	c.Losses = append(c.Losses, bad)
	return nil
}
