package audit

import (
	"fmt"
	"regexp"
	"strconv"
)

// follow checks that a file goes on where the one before it ended, as its first
// line says. It names the file before and says how that ended, signed.
func (c *checker) follow(b *Begin) error {
	if n := numberIn(c.file); n > 0 && n != max(1, b.File) {
		return c.bad("is that of file %d of the record, under the name of file %d: files were swapped or renamed", max(1, b.File), n)
	}
	before := c.number
	c.number = max(1, b.File)
	switch {
	case c.Files == 0 && b.After == nil:
		c.first, c.missing = c.file, c.number-1
		return nil
	case c.Files == 0:
		c.first, c.Before, c.seq = c.file, b.After, b.After.Head.Seq
		copy(c.prev[:], b.After.Head.Hash)
		return nil
	case b.After == nil && b.Chain == c.Chain:
		return c.bad("begins the chain that %s belongs to: it is there twice", c.before)
	case b.After == nil && c.number != before+1:
		return c.bad("begins file %d of the record, and file %d is missing", c.number, before+1)
	case b.After == nil:
		c.anew()
		return nil
	}
	return c.joins(b.After)
}

// joins checks the seam between two files.
func (c *checker) joins(p *Past) error {
	name, h := visible(p.File), p.Head
	switch {
	case h.Chain != c.Chain:
		return c.bad("follows %s, which is missing: %s is of another chain", name, c.before)
	case h.Seq > c.seq && p.File == c.before:
		return c.bad("follows entry %d, and %s ends with %d: that file was cut", h.Seq, c.before, c.seq)
	case h.Seq > c.seq:
		return c.bad("follows %s, which is missing: entries %d to %d", name, c.seq+1, h.Seq)
	case h.Seq < c.seq:
		return c.bad("follows entry %d, and %s ends with %d: one of the two files was replaced or repeated", h.Seq, c.before, c.seq)
	case h.Hash != string(c.prev[:]):
		return c.bad("does not follow %s as it is now: that file was replaced, or this one", c.before)
	case p.File != c.before && numberIn(c.before) > 0:
		return c.bad("follows %s, which is called %s now: files were renamed", name, c.before)
	}
	return nil
}

// anew begins another chain behind the files of one that has ended: what came
// between was taken away.
func (c *checker) anew() {
	c.Losses = append(c.Losses, Loss{
		File: c.file, Line: 1,
		Note: fmt.Sprintf("a new chain begins here: the one before it goes to entry %d, in %s, and what came after that is not there", c.seq, c.before),
	})
	c.seq, c.prev = 0, zeros()
}

// lost keeps what a repair tells of entries that are gone. It says more than
// that a new chain began.
func (c *checker) lost(l line) {
	if l.Lost == nil {
		return
	}
	if n := len(c.Losses); n > 0 && c.Losses[n-1].File == c.file && c.Losses[n-1].Line == 1 {
		c.Losses = c.Losses[:n-1]
	}
	c.Losses = append(c.Losses, Loss{File: c.file, Line: c.lines, At: l.At, Note: l.Note})
}

var numbered = regexp.MustCompile(`-([0-9]{6,9})\.[^.]*$`)

// numberIn is the number in a closed file's name; 0 where there is none.
func numberIn(name string) int {
	m := numbered.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // nine digits at most
	return n
}
