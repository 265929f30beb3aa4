package toolcall

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// plain tells in one quick pass that a body is one valid JSON value within all
// limits. It knows only what calls are usually made of: where it says no, the
// body may be valid all the same, and is left to the decoder. What it says yes
// to, the decoder would accept.
type plain struct {
	text []byte
	at   int
}

const (
	plainDepth = 16 // objects and arrays inside each other
	plainNames = 24 // members of one object
)

func isPlain(body []byte) bool {
	if len(body) > MaxBody {
		return false
	}
	p := plain{text: body}
	if !p.value(0) {
		return false
	}
	p.space()
	return p.at == len(p.text)
}

// next passes spaces and returns the byte behind them, 0 at the end.
func (p *plain) next() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *plain) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// accept passes a byte if it comes next.
func (p *plain) accept(b byte) bool {
	if p.next() != b {
		return false
	}
	p.at++
	return true
}

func (p *plain) value(depth int) bool {
	switch b := p.next(); b {
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
	var names [plainNames][]byte
	for n := 0; n < plainNames; n++ {
		if !p.member(names[:n+1], depth) {
			return false
		}
		if p.accept('}') {
			return true
		}
		if !p.accept(',') {
			return false
		}
	}
	return false
}

// member reads a name, which goes to the last place of names and must differ
// from all before, and its value.
func (p *plain) member(names [][]byte, depth int) bool {
	if p.next() != '"' {
		return false
	}
	start := p.at
	if !p.str(false) {
		return false
	}
	last := len(names) - 1
	names[last] = p.text[start:p.at]
	for _, other := range names[:last] {
		if bytes.Equal(other, names[last]) {
			return false
		}
	}
	return p.accept(':') && p.value(depth)
}

// ordinary are the bytes that mean themselves in a string, as ASCII.
var ordinary = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// str reads a string; its escapes only where they may be, and only the short
// ones: a name with an escape could be another name.
func (p *plain) str(escapes bool) bool {
	start, wide := p.at, false
	p.at++
	p.ordinary()
	for ; p.at < len(p.text); p.at++ {
		switch b := p.text[p.at]; {
		case ordinary[b]:
		case b == '"':
			p.at++
			return !wide || utf8.Valid(p.text[start:p.at])
		case b >= utf8.RuneSelf:
			wide = true
		case b != '\\' || !escapes || !p.escape():
			return false
		}
	}
	return false
}

// ordinary passes eight ordinary bytes at a time, while there are eight.
func (p *plain) ordinary() {
	for len(p.text)-p.at >= 8 && !special(binary.LittleEndian.Uint64(p.text[p.at:])) {
		p.at += 8
	}
}

// special reports whether one of eight bytes is not ordinary: below a space, a
// quote, a backslash, or not ASCII. Subtracting borrows into the highest bit of
// a byte that is smaller; a byte above it may then seem special too, and is
// looked at again.
func special(eight uint64) bool {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	quote, slash := eight^each*'"', eight^each*'\\'
	return (eight|(eight-each*' ')|(quote-each)|(slash-each))&highest != 0
}

// escape passes a backslash and stops at what it escapes.
func (p *plain) escape() bool {
	p.at++
	return p.at < len(p.text) && bytes.IndexByte([]byte(`"\/bfnrt`), p.text[p.at]) >= 0
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
