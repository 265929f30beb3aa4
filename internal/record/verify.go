package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
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
	Chain        string
	HeadChecked  bool
	Unfinished   bool   // the last line is: a write was interrupted, or is going on
	Before       uint64 // entries before the first file, which is not looked at; 0: the chain begins in it
	Removed      bool   // the record says that they were removed, as configured
	Losses       []Loss // what was once seen of the record and is not in it
}

// Loss is a place where the record itself tells that it is not all there.
type Loss struct {
	File string
	Line int
	At   time.Time // when it was noticed
	Note string
}

// BadLine is a line that is not as it was written.
type BadLine struct {
	File   string // its name
	Line   int
	Reason string
}

func (b *BadLine) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// VerifyFiles reads a record's files, in the order of its chain. It names the first line that is not as it was
// written, and a file that is missing between two others, or was cut, replaced or swapped.
func VerifyFiles(paths []string, o VerifyOptions) (Report, error) {
	c := checker{head: o.Head, removed: map[int]bool{}}
	var err error
	if c.chain, err = newChain(o.Key); err != nil {
		return c.Report, err
	}
	for i, path := range paths {
		if err = c.read(path, i == len(paths)-1); err != nil {
			return c.Report, err
		}
	}
	return c.Report, c.end(o.Whole)
}

// checker walks along a chain.
type checker struct {
	Report
	chain        chain
	head         *Head
	seq          uint64 // of the last good line
	mac          string // of it
	first        string // the first file
	began        int    // its number
	file, before string // the one that is being read, and the one before it
	number       int    // of the last begin line
	lines        int    // good ones in the file
	removed      map[int]bool
}

func (c *checker) read(path string, last bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	c.before, c.file, c.lines = c.file, filepath.Base(path), 0
	s := newScanner(f)
	for s.Scan() {
		if err := c.line(s.Bytes()); err != nil {
			return err
		}
	}
	c.Files++
	c.Unfinished = errors.Is(s.Err(), errUnfinished)
	switch {
	case c.Unfinished && last && c.lines > 0:
		return nil
	case c.Unfinished:
		return c.bad("ends in the middle: the file was cut here, or a write was interrupted")
	case errors.Is(s.Err(), bufio.ErrTooLong):
		return c.bad("is longer than %d bytes", MaxLine)
	case s.Err() == nil && c.lines == 0:
		return c.bad("is missing: the file is empty")
	}
	return s.Err()
}

func (c *checker) bad(reason string, args ...any) error {
	return &BadLine{File: c.file, Line: c.lines + 1, Reason: fmt.Sprintf(reason, args...)}
}

func (c *checker) loss(file string, note string, args ...any) {
	c.Losses = append(c.Losses, Loss{File: file, Line: 1, Note: fmt.Sprintf(note, args...)})
}

func (c *checker) line(raw []byte) error {
	l, err := parse(raw)
	switch {
	case bytes.IndexByte(raw, 0) >= 0:
		return c.bad("holds NUL bytes: a write was interrupted by a power cut, or the file was overwritten")
	case err != nil:
		return c.bad("is not valid: %v", err)
	case l.Begin == nil && c.lines == 0:
		return c.bad("does not begin a record")
	case l.Begin != nil && c.lines > 0:
		return c.bad("begins a file: only the first line of one does")
	case l.Begin != nil:
		if err := c.begin(raw, l.Begin, l.Seq); err != nil {
			return err
		}
	}
	switch _, mac := cut(raw); {
	case l.Seq > c.seq+1:
		return c.bad("is entry %d where %d belongs: lines were removed or reordered", l.Seq, c.seq+1)
	case l.Seq < c.seq+1:
		return c.bad("is entry %d where %d belongs: lines were reordered or repeated", l.Seq, c.seq+1)
	case mac == "":
		return c.bad("was not written by the server: it carries no MAC")
	case !c.chain.follows(raw, c.mac):
		return c.bad("is not as the server wrote it, or the line before it is not: the MAC is wrong")
	}
	if h := c.head; h != nil && h.Chain == c.Chain && h.Seq == l.Seq {
		if c.HeadChecked = h.MAC == l.MAC; !c.HeadChecked {
			return c.bad("is not the entry %d that the store has seen: it or a line before it was rewritten", l.Seq)
		}
	}
	c.count(&l)
	return nil
}

// begin checks that a file goes on where the one before it ended, as its first line says.
func (c *checker) begin(raw []byte, b *Begin, seq uint64) error {
	_, named := Base(c.file)
	before, missing := c.number, b.Chain == c.Chain && b.File > c.number+1
	switch {
	case b.Format != format:
		return c.bad("begins a record of format %d, which another version of this program wrote", b.Format)
	case !c.chain.follows(raw, b.Prev):
		return c.bad("was begun with another key, or is not as the server wrote it")
	case named > 0 && named != b.File:
		return c.bad("is that of file %d of the record, under the name of file %d: files were swapped or renamed",
			b.File, named)
	case c.head != nil && !c.chain.sealed(*c.head):
		return ErrHead
	case c.Files == 0:
		if c.first, c.began = c.file, b.File; b.Prev != "" {
			c.Before = seq - 1
		}
	case b.Chain != c.Chain:
		c.loss(c.file, "another record begins here: the one before it goes to entry %d, in %s, and what came after "+
			"that is not there", c.seq, c.before)
	case missing:
		return c.bad("is that of file %d, and %s of file %d: what is between is missing, entries %d to %d",
			b.File, c.before, before, c.seq+1, seq-1)
	case seq > c.seq+1:
		return c.bad("follows entry %d, and %s ends with %d: that file was cut", seq-1, c.before, c.seq)
	case seq < c.seq+1 || b.Prev != c.mac:
		return c.bad("does not follow %s as it is now: one of the two was replaced or is there twice", c.before)
	}
	c.number, c.seq, c.mac, c.Chain = b.File, seq-1, b.Prev, b.Chain
	return nil
}

// count accepts l.
func (c *checker) count(l *line) {
	c.Lines++
	c.lines++
	c.seq, c.mac, c.Last = l.Seq, l.MAC, l.At
	if c.First.IsZero() {
		c.First = l.At
	}
	c.removed[l.Removed] = true
	switch {
	case l.Kind == KindRepair:
		c.Repairs++
		if l.Lost == nil {
			return
		}
		// It says more than that another record began.
		if n := len(c.Losses); n > 0 && c.Losses[n-1].File == c.file && c.Losses[n-1].Line == 1 {
			c.Losses = c.Losses[:n-1]
		}
		c.Losses = append(c.Losses, Loss{File: c.file, Line: c.lines, At: l.At, Note: l.Note})
	case l.Kind != KindBegin:
		c.Entries++
	}
}

// end judges what no single line shows.
func (c *checker) end(whole bool) error {
	c.Removed = c.began > 1 && c.removed[c.began-1]
	switch {
	case c.head != nil && c.head.Chain != c.Chain:
		c.loss(c.file, "this is not the record that the store has seen, which had %d entries", c.head.Seq)
	case c.head != nil && c.head.Seq > c.seq:
		return c.bad("lines %d.. are missing: the store has seen entry %d", c.lines+1, c.head.Seq)
	}
	if whole && c.began > 1 && !c.Removed {
		c.loss(c.first, "is file %d of the record: those before it are gone, and the record does not say that they "+
			"were removed", c.began)
	}
	return nil
}
