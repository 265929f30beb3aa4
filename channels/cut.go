package channels

import (
	"fmt"
	"strings"
)

// kind is what a piece counts as in the [Report].
type kind uint8

const (
	plain kind = iota
	combining
	escaped
	lookalike
	collapsed
	rightToLeft
	unseen // a gap of its own
)

// piece is what is shown for some characters of the input. It is never split.
type piece struct {
	text  string
	runes int // characters of the input
	width int // columns it costs
	kind  kind
}

// cutter gathers pieces and holds on to the first and the last of them only,
// however long the text is.
type cutter struct {
	limit      int // 0 means none
	head, tail []piece
	store      []piece // what tail is a part of
	headWidth  int
	tailWidth  int
	cut        int
}

func (c *cutter) plain(s string, n int) {
	c.add(piece{text: s, runes: n, width: n})
}

// mark adds one of our marks, in place of n characters.
func (c *cutter) mark(k kind, n int, format string, args ...any) {
	text := open + fmt.Sprintf(format, args...) + shut
	c.add(piece{text: text, runes: n, width: width(text), kind: k})
}

func (c *cutter) add(p piece) {
	if c.limit == 0 || len(c.tail) == 0 && c.cut == 0 && c.headWidth+p.width <= c.limit/2 {
		c.head = append(c.head, p)
		c.headWidth += p.width
		return
	}
	c.keep(p)
	c.tailWidth += p.width
	for c.tailWidth > c.limit-c.limit/2 {
		c.drop()
	}
}

// keep adds to the tail. Room is made by moving the tail to the front of its
// store, so that a long text costs no more memory than a short one.
func (c *cutter) keep(p piece) {
	if len(c.tail) == cap(c.tail) {
		if 2*len(c.tail) >= len(c.store) {
			c.store = make([]piece, max(256, 4*len(c.tail)))
		}
		c.tail = c.store[:copy(c.store, c.tail)]
	}
	c.tail = append(c.tail, p)
}

func (c *cutter) drop() {
	c.tailWidth -= c.tail[0].width
	c.cut += c.tail[0].runes
	c.tail = c.tail[1:]
}

// shorten keeps half of what there is room for: what can't be whole should at
// least be short, and leave its end on the screen. A combining mark goes with
// its letter, or it would be on one of our marks.
func (c *cutter) shorten() {
	for c.headWidth > c.limit/4 {
		last := c.head[len(c.head)-1]
		c.headWidth -= last.width
		c.cut += last.runes
		c.head = c.head[:len(c.head)-1]
	}
	for c.tailWidth > c.limit/4 || len(c.tail) > 0 && c.tail[0].kind == combining {
		c.drop()
	}
}

func (c *cutter) result() (string, Report) {
	if c.cut > 0 {
		c.shorten()
	}
	var b strings.Builder
	r := Report{Cut: c.cut}
	write := func(pieces []piece) {
		for _, p := range pieces {
			b.WriteString(p.text)
			r.count(p)
		}
	}
	write(c.head)
	if c.cut > 0 {
		b.WriteString(cutMark(c.cut))
	}
	write(c.tail)
	return b.String(), r
}

func (r *Report) count(p piece) {
	switch p.kind {
	case escaped:
		r.Escaped += p.runes
	case lookalike:
		r.Lookalike += p.runes
	case collapsed:
		r.Collapsed++
	case unseen:
		r.Cut += p.runes
	case rightToLeft:
		r.RightToLeft += p.runes
	}
}
