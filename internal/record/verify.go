package record

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// ErrHead says that the head to verify against is not signed by the key of the
// record: it proves nothing, for or against.
var ErrHead = errors.New("audit: the head is not signed by the record's key")

// VerifyOptions is what is known about a record apart from its files.
type VerifyOptions struct {
	Key    ed25519.PublicKey  // nil: the one in the begin line, and the report says so
	Secret ed25519.PrivateKey // the key itself, with which the MACs of lines are checked; nil: they are not, and the report says so
	Head   *Head              // nil: lines cut from the end cannot be noticed
	Whole  bool               // the files are all there are: a missing first file is an error, unless the record says that it was removed
}

// Report is what was found, up to the first bad line.
type Report struct {
	Files        int
	Lines        int
	Entries      int // lines that are not the log's own
	Checkpoints  int
	Repairs      int // notes about the end of the file; read them
	Unsigned     int // lines at the end that no signature covers
	Unchecked    int // lines whose MAC was not checked, for want of the key
	First, Last  time.Time
	Chain        string
	Key          string // in hex
	SelfAttested bool   // the key is only the file's own word
	HeadChecked  bool

	Before  *Past  // the file that the first one follows, which is not among them; nil: the chain begins in the first
	Removed bool   // the record says that it was removed, as configured
	Losses  []Loss // what was once seen of the record and is not in it
}

// Loss is a place where the record itself tells that it is not all there.
type Loss struct {
	File string
	Line int
	At   time.Time // when it was noticed
	Note string
}

// BadLine is the first line that is not as it was written.
type BadLine struct {
	File   string // its name; empty where there is only one
	Line   int
	Reason string
}

func (b *BadLine) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// VerifyFiles reads a record of several files, in the order of its chain. It
// names a file that is missing between two others, or was cut, replaced or
// swapped.
func VerifyFiles(paths []string, o VerifyOptions) (Report, error) {
	c, err := newChecker(o)
	for i, path := range paths {
		if err == nil {
			err = c.readFile(path, i == len(paths)-1)
		}
	}
	if err == nil {
		err = c.end(o.Whole)
	}
	return c.Report, err
}

func newChecker(o VerifyOptions) (*checker, error) {
	c := &checker{head: o.Head, key: o.Key, prev: zeros(), removed: map[Past]bool{}}
	if o.Secret != nil {
		if len(o.Secret) != ed25519.PrivateKeySize || o.Key != nil && !o.Key.Equal(public(o.Secret)) {
			return c, errors.New("audit: VerifyOptions.Secret is not the private half of Key")
		}
		c.key = public(o.Secret)
		var err error
		if c.mac, err = macWith(o.Secret); err != nil {
			return c, err
		}
	}
	c.SelfAttested = c.key == nil
	if c.key != nil && len(c.key) != ed25519.PublicKeySize {
		return c, errors.New("audit: VerifyOptions.Key is not an ed25519 public key")
	}
	return c, nil
}

// checker walks along a chain.
type checker struct {
	Report
	head *Head
	key  ed25519.PublicKey
	mac  hash.Hash // nil: MACs can't be checked
	prev digest
	seq  uint64 // of the last good line

	first   string // the first file
	file    string // the one that is being read
	before  string // the one before it
	last    bool   // it is the last
	number  int    // of it, from one
	missing int    // the number of the file before the first one, where that begins a chain; 0: there was none
	lines   int    // good ones in it
	removed map[Past]bool
}

func (c *checker) readFile(path string, last bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return c.read(filepath.Base(path), f, last)
}

// read goes through one file.
func (c *checker) read(name string, r io.Reader, last bool) error {
	c.before, c.file, c.last, c.lines = c.file, name, last, 0
	s := newScanner(r)
	for {
		raw, err := s.next()
		switch {
		case errors.Is(err, io.EOF) && c.lines == 0:
			return c.empty()
		case errors.Is(err, io.EOF):
			c.Files++
			return nil
		case err == nil:
			err = c.line(raw)
		default:
			err = c.unreadable(err)
		}
		if err != nil {
			return err
		}
	}
}

func (c *checker) empty() error {
	if c.last && c.head != nil {
		return c.bad("lines 1.. are missing: the store has seen entry %d", c.head.Seq)
	}
	return c.bad("is missing: the file is empty")
}

func (c *checker) bad(reason string, args ...any) error {
	return &BadLine{File: c.file, Line: c.lines + 1, Reason: fmt.Sprintf(reason, args...)}
}

func (c *checker) unreadable(err error) error {
	switch {
	case errors.Is(err, errUnfinished):
		return c.bad("ends in the middle: the file was cut here or a write was interrupted")
	case errors.Is(err, errLong):
		return c.bad("is longer than %d bytes", MaxLine)
	}
	return fmt.Errorf("audit: line %d: %w", c.lines+1, err)
}

func (c *checker) line(raw []byte) error {
	if bytes.IndexByte(raw, 0) >= 0 {
		return c.bad("holds NUL bytes: a write was interrupted by a power cut, or the file was overwritten")
	}
	if !intact(raw) {
		return c.bad("was edited: it does not match its hash")
	}
	l, err := parse(raw)
	if err != nil {
		return c.bad("is not valid: %v", err)
	}
	if c.lines == 0 && l.Begin != nil {
		if err := c.follow(l.Begin); err != nil {
			return err
		}
	}
	if err := c.order(l); err != nil {
		return err
	}
	if err := c.content(l); err != nil {
		return err
	}
	if err := c.genuine(raw); err != nil {
		return err
	}
	if err := c.seen(l); err != nil {
		return err
	}
	c.count(l)
	return nil
}

// order checks that l follows the line before.
func (c *checker) order(l line) error {
	want := c.seq + 1
	switch {
	case l.Seq > want:
		return c.bad("is entry %d where %d belongs: lines were removed or reordered", l.Seq, want)
	case l.Seq < want:
		return c.bad("is entry %d where %d belongs: lines were reordered or repeated", l.Seq, want)
	case l.Prev != string(c.prev[:]):
		return c.bad("does not follow the line before it: that one was replaced, or this one")
	case (l.Kind == KindBegin) != (c.lines == 0):
		return c.bad("is a %q line: a file has one begin line, its first", l.Kind)
	}
	return nil
}

// content checks what the log itself states in a line.
func (c *checker) content(l line) error {
	switch l.Kind {
	case KindBegin:
		return c.begin(l.Begin)
	case KindCheckpoint:
		return c.checkpoint(l.Checkpoint)
	}
	return nil
}

// genuine checks the line's MAC.
func (c *checker) genuine(raw []byte) error {
	if _, sum := cutMAC(raw); sum == nil {
		return c.bad("was not written by the server: it carries no MAC")
	}
	if c.mac == nil {
		c.Unchecked++
		return nil
	}
	if !genuine(raw, c.mac) {
		return c.bad("was not written by the server: its MAC is wrong")
	}
	return nil
}

func (c *checker) begin(b *Begin) error {
	switch {
	case b == nil:
		return c.bad("does not begin a record")
	case b.Format != format:
		return c.bad("begins a record of format %d, which another version of this program wrote", b.Format)
	}
	key, err := hex.DecodeString(b.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return c.bad("holds no ed25519 public key")
	}
	if c.key != nil && !c.key.Equal(ed25519.PublicKey(key)) {
		return c.bad("begins a record under another key, %s", b.Key)
	}
	if b.After != nil && !b.After.Head.SignedBy(key) {
		return c.bad("names a file before it without a signature that holds")
	}
	c.key, c.Key, c.Chain = key, b.Key, b.Chain
	return c.headFits()
}

// headFits checks the head as soon as the key and the chain are known.
func (c *checker) headFits() error {
	switch {
	case c.head == nil:
		return nil
	case !c.head.SignedBy(c.key):
		return ErrHead
	case c.last && c.head.Chain != c.Chain:
		return c.bad("begins chain %s: the store has seen chain %s", c.Chain, c.head.Chain)
	}
	return nil
}

func (c *checker) checkpoint(h *Head) error {
	switch {
	case h == nil:
		return c.bad("is a checkpoint without a head")
	case h.Chain != c.Chain || h.Seq != c.seq || h.Hash != string(c.prev[:]):
		return c.bad("is a checkpoint of another place")
	case !h.SignedBy(c.key):
		return c.bad("is a checkpoint whose signature is wrong")
	}
	return nil
}

// seen checks the one line that the head names.
func (c *checker) seen(l line) error {
	if c.head == nil || c.head.Chain != c.Chain || l.Seq != c.head.Seq {
		return nil
	}
	if l.Hash != c.head.Hash {
		return c.bad("is not the entry %d that the store has seen: it or a line before it was rewritten", l.Seq)
	}
	c.HeadChecked = true
	return nil
}

// count accepts l.
func (c *checker) count(l line) {
	c.Lines++
	c.lines++
	c.Unsigned++
	c.seq = l.Seq
	copy(c.prev[:], l.Hash)
	if c.First.IsZero() {
		c.First = l.At
	}
	c.Last = l.At
	if l.Removed != nil {
		c.removed[*l.Removed] = true
	}
	switch l.Kind {
	case KindBegin:
	case KindCheckpoint:
		c.Checkpoints++
		c.Unsigned = 1 // its signature covers the lines before it
	case KindRepair:
		c.Repairs++
		c.lost(l)
	default:
		c.Entries++
	}
	if c.HeadChecked && l.Seq == c.head.Seq {
		c.Unsigned = 0
	}
}

// end judges what no single line shows.
func (c *checker) end(whole bool) error {
	switch {
	case c.head != nil && c.head.Chain == c.Chain && c.head.Seq > c.seq:
		return c.bad("lines %d.. are missing: the store has seen entry %d", c.lines+1, c.head.Seq)
	case c.Before == nil:
		if whole && c.missing > 0 && !c.wasRemoved(c.missing) {
			note := fmt.Sprintf("begins file %d of the record: file %d is missing, and the record does not say that it was removed", c.missing+1, c.missing)
			c.Losses = slices.Insert(c.Losses, 0, Loss{File: c.first, Line: 1, Note: note})
		}
		return nil
	}
	h := c.Before.Head
	c.Removed = c.removed[Past{File: c.Before.File, Head: Head{Chain: h.Chain, Seq: h.Seq, Hash: h.Hash}}]
	if whole && !c.Removed {
		return &BadLine{File: c.first, Line: 1, Reason: fmt.Sprintf("follows %s, which is missing, and the record does not say that it was removed", visible(c.Before.File))}
	}
	return nil
}

// wasRemoved reports whether the record says that the file of a number was removed.
func (c *checker) wasRemoved(number int) bool {
	for past := range c.removed {
		if numberIn(past.File) == number {
			return true
		}
	}
	return false
}

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
	case b.After == nil:
		if c.number != before+1 {
			c.Losses = append(c.Losses, Loss{File: c.file, Line: 1, Note: fmt.Sprintf("begins file %d of the record, and file %d is missing", c.number, before+1)})
		}
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
