package policy

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// collector walks over the strings of params.
type collector struct {
	values, keys []byte // each string with a zero byte after it
	params       params
	next         param // of the value to come; paramCount for any other
	depth        int
	checked      bool // the JSON was found valid: it is UTF-8
	literal      bool // and nothing in it is escaped: every string reads as it is written
}

// walk reads JSON that was found valid: a quote opens a string, and a string is
// a name where a colon follows. In what is no JSON it finds what looks like it.
func (w *collector) walk(b []byte) {
	w.next = paramCount
	w.literal = w.checked && bytes.IndexByte(b, '\\') < 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			w.depth++
			w.next = paramCount
		case '}', ']':
			w.depth--
		case '"':
			end := toolcall.AfterString(b, i+1)
			w.add(b[i:end], isName(b[end:]))
			i = end - 1
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := toolcall.AfterNumber(b, i)
			w.number(b[i:end])
			i = end - 1
		}
	}
}

// number keeps a number as a port is written: 8787.0 and 8.787e3 are 8787.
func (w *collector) number(raw []byte) {
	w.next = paramCount
	if bytes.ContainsAny(raw, ".eE") {
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == float64(uint16(f)) {
			raw = strconv.AppendUint(nil, uint64(f), 10)
		}
	}
	w.values = append(append(w.values, raw...), 0)
}

func isName(after []byte) bool {
	for _, c := range after {
		if c > ' ' {
			return c == ':'
		}
	}
	return false
}

// add keeps a string, and remembers its place if the policy knows it by
// name.
func (w *collector) add(quoted []byte, name bool) {
	if name {
		from := len(w.keys)
		w.keys = w.unquoted(w.keys, quoted)
		w.next = paramCount
		if w.depth == 1 {
			w.next = knownParam(w.keys[from : len(w.keys)-1])
		}
		return
	}
	from := len(w.values)
	w.values = w.unquoted(w.values, quoted)
	if w.next != paramCount {
		w.params.set(w.next, from, len(w.values)-1)
		w.next = paramCount
	}
}

// unquoted appends a string and the zero byte after it. The error only says
// that invalid UTF-8 was replaced, or that the string had no end.
func (w *collector) unquoted(to, quoted []byte) []byte {
	if n := len(quoted); w.literal || n >= 2 && bytes.IndexByte(quoted, '\\') < 0 && (w.checked || utf8.Valid(quoted)) {
		to = append(to, quoted[1:n-1]...)
	} else {
		to, _ = jsontext.AppendUnquote(to, quoted)
	}
	return append(to, 0)
}
