package policy

import (
	"bytes"
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
	marks    mark   // which unusual characters are in it
	params   params // the members that the policy knows by name
	readable bool   // params were one JSON value
	call     *toolcall.Call
	said     []argument // see [text.strings]
	place    bool       // lower names a place where secrets are kept, see [Policy.weigh]

	// As a shell leaves it, see strip; empty where that is no different.
	bare []byte
}

// argument is a key or a string of the params, and where it is.
type argument struct{ path, value string }

// strings walks over the params as [toolcall.Call.Strings] does. They are decoded once, however many questions are asked of them.
func (t *text) strings(yield func(path, value string) bool) {
	if t.said == nil {
		for path, value := range t.call.Strings {
			t.said = append(t.said, argument{path, value})
		}
	}
	for _, a := range t.said {
		if !yield(a.path, a.value) {
			return
		}
	}
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

// read collects what a call says. The walk is its own, not [toolcall.Call.Strings],
// because it needs no paths and must tell keys from values. Duplicate names were
// refused when the call was decoded; should one get here, both are read.
func read(c *toolcall.Call) *text {
	w := collector{values: make([]byte, 0, len(c.Params)+len(c.Sent)+1), keys: make([]byte, 0, 128), checked: c.Params.IsValid(jsontext.AllowDuplicateNames(true))}
	t := &text{call: c, readable: len(c.Params) == 0 || w.checked || c.Params.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	w.walk(c.Params)
	split := len(w.values)
	t.raw = append(append(w.values, w.keys...), c.Sent...)
	t.params = w.params
	t.lower = make([]byte, len(t.raw))
	for i, b := range t.raw {
		t.lower[i] = lowerBytes[b]
		t.marks |= byteMarks[b]
	}
	if t.marks&hasWide != 0 {
		values := foldWide(t.lower[:split])
		split, t.lower = len(values), append(values, foldWide(t.lower[split:])...)
	}
	t.values = t.lower[:split]
	return t
}

// strip works out how a shell would leave the text.
func (t *text) strip() {
	if t.marks&(hasQuote|hasDollar) != 0 {
		t.bare = stripped(t.lower)
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
