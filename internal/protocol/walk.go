package protocol

import (
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

var errValues = malformed("tool.params must hold at most 65536 values.")

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

// Walk reads the params of a call, once for everybody who looks at them, as strictly as those of a body. No params have
// no values.
func Walk(params []byte) (Values, error) {
	if len(params) == 0 {
		return nil, nil
	}
	r, err := newReader(params)
	if err != nil {
		return nil, err
	}
	return r.values(0)
}

// values reads the next value. Where it is written is counted from there on.
func (r *reader) values(from int) (Values, error) {
	w := walker{reader: r, from: from, all: make(Values, 0, 8)}
	err := w.value(Value{Up: -1})
	return w.all, err
}

type walker struct {
	*reader
	from int
	all  Values
}

func (w *walker) value(v Value) error {
	i := len(w.all)
	if i == MaxValues {
		return errValues
	}
	w.peek()
	v.At = w.at - w.from
	raw, err := w.next()
	if err != nil {
		return err
	}
	v.Kind = raw.Kind()
	switch w.all = append(w.all, v); raw[0] {
	case '{', '[':
		err = w.inside(i, raw[0])
	case '"':
		w.all[i].Text = string(w.unquote(raw))
	default:
		w.all[i].Text = string(raw)
	}
	w.all[i].End, w.all[i].Next = w.at-w.from, len(w.all)
	return err
}

// inside reads what is in the object or array at that index, and the bracket at its end.
func (w *walker) inside(up int, open byte) error {
	for n := 0; ; n++ {
		v := Value{Up: up, Index: n}
		switch end := w.peek(); {
		case end == '}' || end == ']':
			_, err := w.next()
			return err
		case open == '{':
			v.NameAt = w.at - w.from
			name, err := w.next()
			if err != nil {
				return err
			}
			v.Name = string(w.unquote(name))
		}
		if err := w.value(v); err != nil {
			return err
		}
	}
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
