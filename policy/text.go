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

// read collects what a call says. The walk is its own, not [toolcall.Call.Strings],
// because it needs no paths and must tell keys from values.
func read(c *toolcall.Call) text {
	w := collector{values: make([]byte, 0, len(c.Params)+len(c.Sent)+64)}
	t := text{readable: len(c.Params) == 0 || w.all(c.Params)}
	split := len(w.values)
	t.raw = append(append(w.values, w.keys...), c.Sent...)
	t.params = w.params
	t.lower, t.marks = folded(t.raw)
	t.values = t.lower[:split]
	if t.marks&hasWide != 0 {
		values := foldWide(t.lower[:split:split])
		t.lower = append(values[:len(values):len(values)], foldWide(t.lower[split:])...)
		t.values = t.lower[:len(values)]
	}
	return t
}

// collector walks over params.
type collector struct {
	values, keys []byte
	params       params
	next         param // of the value to come; paramCount for any other
}

func (w *collector) all(params jsontext.Value) bool {
	// A bytes.Buffer is read in place. Duplicate names were refused when the
	// call was decoded; should one get here, both are read.
	dec := jsontext.NewDecoder(bytes.NewBuffer(params), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		switch dec.PeekKind() {
		case jsontext.KindString:
			depth := dec.StackDepth()
			kind, n := dec.StackIndex(depth)
			value, err := dec.ReadValue()
			if err != nil {
				return false
			}
			w.add(value, kind == jsontext.KindBeginObject && n%2 == 0, depth)
		case jsontext.KindInvalid:
			_, values := dec.StackIndex(0)
			return dec.StackDepth() == 0 && values == 1 && len(bytes.Trim(params[dec.InputOffset():], " \t\r\n")) == 0
		default:
			w.next = paramCount
			if _, err := dec.ReadToken(); err != nil {
				return false
			}
		}
	}
}

// add keeps a string, and remembers where it stands if the policy knows it by
// name.
func (w *collector) add(quoted []byte, key bool, depth int) {
	if key {
		from := len(w.keys)
		w.keys = unquoted(w.keys, quoted)
		w.next = paramCount
		if known, ok := paramNames[string(w.keys[from:len(w.keys)-1])]; ok && depth == 1 {
			w.next = known
		}
		return
	}
	from := len(w.values)
	w.values = unquoted(w.values, quoted)
	if w.next != paramCount {
		w.params.set(w.next, from, len(w.values)-1)
		w.next = paramCount
	}
}

// unquoted appends a string and the zero byte after it. The error only says
// that invalid UTF-8 was replaced.
func unquoted(to, quoted []byte) []byte {
	to, _ = jsontext.AppendUnquote(to, quoted)
	return append(to, 0)
}

// folded is b in lower-case ASCII and the kinds of characters in it.
func folded(b []byte) ([]byte, mark) {
	out := make([]byte, len(b))
	var marks mark
	for i, c := range b {
		marks |= byteMarks[c]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out, marks
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
			out = append(out, lowerByte(byte(r-0xff01+'!')))
		case r == 0x3002 || r == 0xff61: // ideographic full stops
			out = append(out, '.')
		case invisible(r):
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// invisible are the characters that addresses and file managers ignore.
func invisible(r rune) bool {
	return r == 0xad || r == 0x34f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
		r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r >= 0xfe00 && r <= 0xfe0f
}
