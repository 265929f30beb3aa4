package policy

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// text is everything a call says: each string value of its params, then each
// key, then its name, decoded and one after the other, with a zero byte
// between them. Values stand together so that a command and its arguments,
// given as separate strings, still read as one line.
type text struct {
	raw      []byte // as it was said
	lower    []byte // in lower case, wide forms folded, invisible characters dropped
	values   []byte // the part of lower that is values
	keys     []byte // in raw; only its memory is of use
	marks    mark   // which unusual characters are in it
	params   params // the members that the policy knows by name
	readable bool   // params were one JSON value

	// As a shell leaves it, see strip; empty where that is no different.
	bare        []byte
	first, last int // between these stands all of lower that a shell may drop

	may finding // what may be in lower or bare
}

// param is the value of a member at the top of params, or "" where there is
// none that is a string.
func (t *text) param(name param) string {
	at := t.params[name]
	return string(t.raw[at.from:at.to])
}

// mark is a set of kinds of characters, so that the costly readings of a text
// are only tried where they could differ from the plain one.
type mark uint8

const (
	hasQuote   mark = 1 << iota // something a shell drops: quotes, backslashes, carets
	hasSlash                    // a path that may need cleaning
	hasPercent                  // percent-encoding
	hasEscape                   // a backslash, which may start a numbered escape
	hasDollar                   // a shell expansion
	hasWide                     // anything beyond ASCII
	hasBreak                    // a tab or newline, which addresses ignore
)

// marks of single bytes.
var byteMarks = func() (m [256]mark) {
	for _, b := range []byte("'\"`^") {
		m[b] = hasQuote
	}
	m['\\'] = hasQuote | hasEscape | hasSlash
	m['/'] = hasSlash
	m['%'] = hasPercent
	m['$'] = hasDollar
	m['\t'], m['\n'], m['\r'] = hasBreak, hasBreak, hasBreak
	for b := utf8.RuneSelf; b < 256; b++ {
		m[b] = hasWide
	}
	return m
}()

// lowerBytes are the bytes in lower-case ASCII.
var lowerBytes = func() (l [256]byte) {
	for i := range l {
		l[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		l[c] += 'a' - 'A'
	}
	return l
}()

// texts keeps the memory of texts for the next call. A rare long one is let go.
var texts = sync.Pool{New: func() any { return new(text) }}

const maxKept = 64 << 10

// release gives the text's memory back. Nothing of it may be used afterwards.
func (t *text) release() {
	if cap(t.raw) <= maxKept && cap(t.lower) <= maxKept && cap(t.bare) <= maxKept {
		texts.Put(t)
	}
}

// read collects what a call says. The walk is its own, not [toolcall.Call.Strings],
// because it needs no paths and must tell keys from values. Duplicate names were
// refused when the call was decoded; should one get here, both are read.
func read(c *toolcall.Call, s *sieve) *text {
	t := texts.Get().(*text) //nolint:errcheck // nothing else is put in
	w := collector{values: t.raw[:0], keys: t.keys[:0], checked: c.Params.IsValid(jsontext.AllowDuplicateNames(true))}
	t.readable = len(c.Params) == 0 || w.checked || c.Params.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w.walk(c.Params)
	split := len(w.values)
	t.raw = append(append(w.values, w.keys...), c.Sent...)
	t.keys, t.params, t.bare, t.may = w.keys, w.params, t.bare[:0], 0
	t.lower = append(t.lower[:0], t.raw...)
	t.marks = t.sift(s)
	if t.marks&hasWide != 0 {
		keys := foldWide(t.lower[split:])
		split = len(foldWide(t.lower[:split]))
		t.lower = append(t.lower[:split], keys...)
		t.sift(s) // the marks are those of what was said
	}
	t.values = t.lower[:split]
	return t
}

// sift puts lower into lower-case ASCII and finds out, in the same pass, what may
// be in it and where a shell may drop something. It tells the kinds of characters.
func (t *text) sift(s *sieve) (marks mark) {
	b, may, pair, starts := t.lower, t.may, 0, ofAnything
	t.first, t.last = len(b), 0
	for i, c := range b {
		is := &signs[c]
		b[i] = is.lower
		if is.marks&(hasQuote|hasDollar) != 0 {
			t.first, t.last = min(t.first, i), i
		}
		marks |= is.marks
		pair = (pair<<classBits | int(is.class)) & (len(s) - 1)
		p := &s[pair]
		may |= starts & p.ends
		starts = p.starts
	}
	t.may = may
	return marks
}

// strip works out how a shell would leave the text.
func (t *text) strip(s *sieve) {
	if t.marks&(hasQuote|hasDollar) == 0 {
		return // it stays as it is
	}
	b, done := t.lower, 0
	for at := t.first; at <= t.last; {
		instead, n := dropped(b[at:])
		if instead != "$" {
			t.leave(s, b[done:at])
			t.leave(s, []byte(instead))
			done = at + n
		}
		at += n
		at += untouched(b[at:max(at, t.last)])
	}
	t.leave(s, b[done:])
}

// leave appends to what a shell leaves. Where two parts meet, there may be
// something that was not there before.
func (t *text) leave(s *sieve, part []byte) {
	if len(part) == 0 {
		return
	}
	n := len(t.bare)
	t.bare = append(t.bare, part...)
	for i := max(n, 1); i < min(n+2, len(t.bare)); i++ {
		t.may |= s.at(t.bare, i)
	}
}

// folded is b in lower-case ASCII.
func folded(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		out[i] = lowerBytes[c]
	}
	return out
}

// foldWide reads wide forms as the ASCII they stand for and drops characters
// that are not shown: that is what an address parser makes of them.
func foldWide(b []byte) []byte {
	out := b[:0:len(b)]
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '?')
		case r >= 0xff01 && r <= 0xff5e:
			out = append(out, lowerBytes[byte(r-0xff01+'!')])
		case r == 0x3002 || r == 0xff61: // ideographic full stops
			out = append(out, '.')
		case invisible(r):
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// invisible are the characters that addresses and file managers ignore.
func invisible(r rune) bool {
	return r == 0xad || r == 0x34f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
		r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r >= 0xfe00 && r <= 0xfe0f
}
