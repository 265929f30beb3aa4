package toolcall

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// plain reads what calls are usually made of, and finds it valid and within all
// limits on the way. Where it says no, the text may be valid all the same, and is
// left to the decoder. What it says yes to, the decoder would accept.
type plain struct {
	text    []byte
	at      int
	escaped bool // there is an escape in the string that was read last
}

const (
	plainDepth = 16 // objects and arrays inside each other
	plainNames = 24 // members of one object
)

// peek passes spaces and returns the byte behind them, 0 at the end.
func (p *plain) peek() byte {
	if p.at < len(p.text) && p.text[p.at] > ' ' {
		return p.text[p.at]
	}
	return p.pass()
}

// pass is peek where there is a space, or something that has no place there.
func (p *plain) pass() byte {
	for p.at < len(p.text) {
		switch b := p.text[p.at]; b {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return b
		}
	}
	return 0
}

// accept passes a byte if it comes next.
func (p *plain) accept(b byte) bool {
	if p.peek() != b {
		return false
	}
	p.at++
	return true
}

func (p *plain) value(depth int) bool {
	switch p.peek() {
	case '"':
		return p.str(true)
	case '{':
		return depth < plainDepth && p.object(depth+1)
	case '[':
		return depth < plainDepth && p.array(depth+1)
	case 't':
		return p.word("true")
	case 'f':
		return p.word("false")
	case 'n':
		return p.word("null")
	default:
		return p.number()
	}
}

func (p *plain) word(w string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *plain) array(depth int) bool {
	p.at++
	if p.accept(']') {
		return true
	}
	for p.value(depth) {
		if p.accept(']') {
			return true
		}
		if !p.accept(',') {
			return false
		}
	}
	return false
}

func (p *plain) object(depth int) bool {
	p.at++
	if p.accept('}') {
		return true
	}
	var seen names
	for p.name(&seen) && p.value(depth) {
		if p.accept('}') {
			return true
		}
		if !p.accept(',') {
			return false
		}
	}
	return false
}

// name reads the name of a member, which must differ from those seen before, and
// the colon. An escape could make it another name.
func (p *plain) name(seen *names) bool {
	if p.peek() != '"' {
		return false
	}
	start := p.at
	return p.str(false) && seen.add(p.text, start+1, p.at-1) && p.accept(':')
}

// names are those of an object's members.
type names struct {
	marks uint64 // of all of them
	n     int
	at    [plainNames]struct{ start, end int32 }
}

// add takes in the name at a place of the text, unless it is there already or
// there is no more room. Equal names have equal marks: few are compared.
func (s *names) add(text []byte, start, end int) bool {
	if s.n == plainNames {
		return false
	}
	mark := uint64(1) << ((end - start + int(text[start]) + 5*int(text[end-1])) % 64)
	if s.marks&mark != 0 {
		for _, other := range s.at[:s.n] {
			if string(text[other.start:other.end]) == string(text[start:end]) {
				return false
			}
		}
	}
	s.marks |= mark
	s.at[s.n].start, s.at[s.n].end = int32(start), int32(end) //nolint:gosec // a body is far shorter than that
	s.n++
	return true
}

// str reads a string; its escapes only where they may be, and only the short
// ones.
func (p *plain) str(escapes bool) bool {
	start, wide := p.at, false
	p.escaped = false
	for p.at++; p.ordinary(); {
		switch b := p.text[p.at]; {
		case b == '"':
			p.at++
			return !wide || utf8.Valid(p.text[start:p.at])
		case b >= utf8.RuneSelf:
			wide = true
			p.wide()
		case b != '\\' || !escapes || !p.escape():
			return false
		}
	}
	return false
}

// ordinary passes the bytes that mean themselves in a string, as ASCII, and says
// whether another comes behind them.
func (p *plain) ordinary() bool {
	text, at := p.text, p.at
	for ; len(text)-at >= 8; at += 8 {
		if found := special(binary.LittleEndian.Uint64(text[at:])); found != 0 {
			p.at = at + bits.TrailingZeros64(found)/8
			return true
		}
	}
	for at < len(text) && isOrdinary(text[at]) {
		at++
	}
	p.at = at
	return at < len(text)
}

func isOrdinary(b byte) bool { return ' ' <= b && b < utf8.RuneSelf && b != '"' && b != '\\' }

// special marks those of eight bytes that are not ordinary, by their highest bit:
// below a space, a quote, a backslash, or not ASCII. Subtracting borrows into the
// highest bit of a byte that is smaller. A byte above that one may then be marked
// too; the lowest that is marked is special.
func special(eight uint64) uint64 {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	quote, slash := eight^each*'"', eight^each*'\\'
	return (eight | (eight - each*' ') | (quote - each) | (slash - each)) & highest
}

// wide passes bytes that mean themselves, ASCII or not: where there is one that is
// not, there are more.
func (p *plain) wide() {
	at, text := p.at, p.text
	for at < len(text) && text[at] >= ' ' && text[at] != '"' && text[at] != '\\' {
		at++
	}
	p.at = at
}

// escape passes a backslash and what it escapes.
func (p *plain) escape() bool {
	if p.at+1 == len(p.text) || bytes.IndexByte([]byte(`"\/bfnrt`), p.text[p.at+1]) < 0 {
		return false
	}
	p.at += 2
	p.escaped = true
	return true
}

// number reads one without an exponent, which may have no finite value.
func (p *plain) number() bool {
	start := p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	whole := p.at
	n := p.digits()
	if n == 0 || n > 1 && p.text[whole] == '0' {
		return false
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return false
		}
	}
	end := p.at < len(p.text) && (p.text[p.at]|0x20 == 'e')
	return !end && p.at-start <= MaxNumber
}

func (p *plain) digits() int {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
