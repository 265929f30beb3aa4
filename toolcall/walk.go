package toolcall

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPath bounds the path given to yield. Without it, a long key above a long
// array would be copied once for each element.
const maxPath = 256

// Strings walks every object key and every string value of the params in the
// order of the text, decoded, so that escapes hide nothing. The path of a value
// looks like edits[0].newText; a key is yielded before its value, with the
// path of the member. A path over 256 bytes is cut and ends in "…". The walk
// stops when yield returns false, so the method can be ranged over.
func (c *Call) Strings(yield func(path, value string) bool) {
	// A Buffer is read in place, a Reader is copied.
	w := walker{dec: jsontext.NewDecoder(bytes.NewBuffer(c.Params)), yield: yield}
	w.value()
}

type walker struct {
	dec   *jsontext.Decoder
	path  []byte
	yield func(path, value string) bool
}

// value walks one value and says whether to go on.
func (w *walker) value() bool {
	tok, err := w.dec.ReadToken()
	if err != nil {
		return false
	}
	switch tok.Kind() {
	case jsontext.KindString:
		return w.yield(w.place(), tok.String())
	case jsontext.KindBeginObject:
		return w.object()
	case jsontext.KindBeginArray:
		return w.array()
	}
	return true
}

func (w *walker) object() bool {
	base := len(w.path)
	for w.dec.PeekKind() != jsontext.KindEndObject {
		tok, err := w.dec.ReadToken()
		if err != nil {
			return false
		}
		name := tok.String()
		if base > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, name...)
		if !w.yield(w.place(), name) || !w.value() {
			return false
		}
		w.path = w.path[:base]
	}
	_, err := w.dec.ReadToken()
	return err == nil
}

func (w *walker) array() bool {
	base := len(w.path)
	for i := 0; w.dec.PeekKind() != jsontext.KindEndArray; i++ {
		w.path = append(w.path, '[')
		w.path = strconv.AppendInt(w.path, int64(i), 10)
		w.path = append(w.path, ']')
		if !w.value() {
			return false
		}
		w.path = w.path[:base]
	}
	_, err := w.dec.ReadToken()
	return err == nil
}

func (w *walker) place() string {
	if len(w.path) <= maxPath {
		return string(w.path)
	}
	end := maxPath
	for !utf8.RuneStart(w.path[end]) {
		end--
	}
	return string(w.path[:end]) + "…"
}

// Param returns the string member of params with that name. It looks at the top
// level only; false means that it is absent or not a string.
func (c *Call) Param(name string) (string, bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(c.Params))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return "", false
	}
	for dec.PeekKind() == jsontext.KindString {
		tok, err := dec.ReadToken()
		if err != nil {
			return "", false
		}
		if tok.String() == name {
			return stringValue(dec)
		}
		if err := dec.SkipValue(); err != nil {
			return "", false
		}
	}
	return "", false
}

func stringValue(dec *jsontext.Decoder) (string, bool) {
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != jsontext.KindString {
		return "", false
	}
	return tok.String(), true
}
