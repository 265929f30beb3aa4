package protocol

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a walk. A value takes two bytes in a body and a hundred here; a long name above a long array would be in
// the path of each element.
const (
	MaxValues = 1 << 16 // objects and arrays among them
	maxPath   = 256     // bytes
)

var errParams = errors.New("protocol: params that are no JSON, or hold too many values")

// Value is one value in a call's params, and where it is written.
type Value struct {
	Kind    jsontext.Kind
	Name    string // of the member that it is; "" for an element of an array
	Text    string // what a string says; a number, true, false or null as it is written; "" for objects and arrays
	At, End int    // it is params[At:End]
	NameAt  int    // where its name begins, with the quote; 0 for an element and the params themselves
	Up      int    // index of the object or array around it; -1 for the params themselves
	Next    int    // index of the first value behind it that is not in it
	Index   int    // its place among the members or elements of what is around it
}

// Values are all values in the order of the text. The params themselves are the first; what is in the object or array
// at i comes behind it, up to its Next.
type Values []Value

// Walk reads the params of a call, once for everybody who looks at them. They must have been found valid: the walk
// checks no more than it needs to end, with an error or without, and never panics. No params have no values.
func Walk(params []byte) (Values, error) {
	w := walker{text: params, all: make(Values, 0, 8)}
	w.plain.Grow(len(params))
	if len(params) > 0 && (!w.value(Value{Up: -1}) || w.next() != 0) {
		return nil, errParams
	}
	return w.all, nil
}

type walker struct {
	text  []byte
	at    int
	all   Values
	plain strings.Builder // all that was read, without quotes and escapes
}

// next passes what is between values. It returns the byte that follows, or 0.
func (w *walker) next() byte {
	for ; w.at < len(w.text); w.at++ {
		if c := w.text[w.at]; c > ' ' && c != ',' && c != ':' {
			return c
		}
	}
	return 0
}

func (w *walker) value(v Value) (ok bool) {
	first, i := w.next(), len(w.all)
	if first == 0 || i == MaxValues {
		return false
	}
	v.Kind, v.At = jsontext.Kind(first), w.at
	w.all = append(w.all, v)
	switch first {
	case '{', '[':
		ok = w.inside(i, first)
	case '"':
		w.all[i].Text, ok = w.quoted()
	default:
		for w.at++; w.at < len(w.text) && strings.IndexByte(" \t\n\r,:]}", w.text[w.at]) < 0; {
			w.at++
		}
		w.all[i].Text, ok = w.says(w.text[v.At:w.at], w.plain.Len()), true
		if first == '-' || '0' <= first && first <= '9' {
			w.all[i].Kind = jsontext.KindNumber
		}
	}
	w.all[i].End, w.all[i].Next = w.at, len(w.all)
	return ok
}

// inside reads the object or array at that index, and the bracket at its end.
func (w *walker) inside(up int, open byte) bool {
	w.at++
	for i := 0; ; i++ {
		switch w.next() {
		case open + 2: // in ASCII } is two after {, and ] two after [
			w.at++
			return true
		case 0, '}', ']':
			return false
		}
		v, ok := Value{Up: up, Index: i}, true
		if open == '{' {
			v.NameAt = w.at
			v.Name, ok = w.quoted()
		}
		if !ok || !w.value(v) {
			return false
		}
	}
}

// says adds the last part to what was read from there on, and returns that.
func (w *walker) says(last []byte, from int) string {
	w.plain.Write(last)
	return w.plain.String()[from:]
}

// quoted reads a string.
func (w *walker) quoted() (says string, ok bool) {
	from, end := w.plain.Len(), w.at
	for w.at++; ; {
		if end < w.at { // the quote there had a backslash
			n := bytes.IndexByte(w.text[w.at:], '"')
			if n < 0 {
				return "", false
			}
			end = w.at + n
		}
		part := w.text[w.at:end]
		n := bytes.IndexByte(part, '\\')
		if n < 0 {
			w.at = end + 1
			return w.says(part, from), true
		}
		w.plain.Write(part[:n])
		if w.at += n; !w.escape() {
			return "", false
		}
	}
}

// escape reads what begins with a backslash.
func (w *walker) escape() bool {
	if i := strings.IndexByte(`"\/bfnrt`, w.text[w.at+1]); i >= 0 {
		w.plain.WriteByte("\"\\/\b\f\n\r\t"[i])
		w.at += 2
		return true
	}
	raw := []byte{'"'}
	for bytes.HasPrefix(w.text[w.at:], []byte(`\u`)) { // two may be one character
		n := min(len(`\u0000`), len(w.text)-w.at)
		raw = append(raw, w.text[w.at:w.at+n]...)
		w.at += n
	}
	text, err := jsontext.AppendUnquote(nil, append(raw, '"'))
	w.plain.Write(text)
	return err == nil && len(raw) > 1
}

// Path is where a value is, such as edits[0].newText, and "" for the params themselves. One over 256 bytes is cut and
// ends in "…".
func (all Values) Path(i int) string {
	if v := &all[i]; v.Up == 0 && v.NameAt > 0 && len(v.Name) <= maxPath {
		return v.Name
	}
	path := all.appendPath(nil, i)
	if len(path) <= maxPath {
		return string(path)
	}
	return strings.ToValidUTF8(string(path[:maxPath]), "") + "…"
}

func (all Values) appendPath(to []byte, i int) []byte {
	v := &all[i]
	if v.Up >= 0 {
		to = all.appendPath(to, v.Up)
	}
	switch {
	case v.Up < 0 || len(to) > maxPath:
		return to
	case v.NameAt == 0:
		return append(strconv.AppendInt(append(to, '['), int64(v.Index), 10), ']')
	case len(to) > 0:
		to = append(to, '.')
	}
	return append(to, v.Name[:min(len(v.Name), maxPath+1)]...)
}
