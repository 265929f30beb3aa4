package protocol

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads a JSON text once, token by token, into structs whose tags say what may be in it. Package jsontext has
// found it valid: no duplicate names, no invalid UTF-8, no lone surrogates. The reader bounds depth and numbers.
type reader struct {
	text  []byte
	at    int
	depth int
	event Name   // whose members are read
	plain []byte // what the last string with escapes says
}

// newReader is for a text that is one JSON value.
func newReader(text []byte) (*reader, error) {
	switch {
	case jsontext.Value(text).IsValid():
		return &reader{text: text}, nil
	case jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)):
		return nil, malformed("The body has the same member twice in one object.")
	case !utf8.Valid(text):
		return nil, malformed("The body must be valid UTF-8.")
	}
	return nil, malformed("The body is not one valid JSON value.")
}

// peek goes to where the next token begins, and returns its first byte.
func (r *reader) peek() byte {
	for r.text[r.at] <= ' ' || r.text[r.at] == ',' || r.text[r.at] == ':' {
		r.at++
	}
	return r.text[r.at]
}

// next is the next token: a bracket, or a name or plain value as it is written.
func (r *reader) next() (jsontext.Value, error) {
	first, start := r.peek(), r.at
	switch r.at++; first {
	case '{', '[':
		if r.depth++; r.depth > MaxDepth {
			return nil, malformed("The body must be nested at most 100 levels deep.")
		}
	case '}', ']':
		r.depth--
	case '"':
		for escaped := true; escaped; { // until the next quote behind an even number of backslashes
			r.at += bytes.IndexByte(r.text[r.at:], '"') + 1
			other := r.at - 2
			for r.text[other] == '\\' {
				other--
			}
			escaped = (r.at-other)%2 == 1
		}
	default:
		for r.at < len(r.text) && r.text[r.at] > ' ' && strings.IndexByte(",]}", r.text[r.at]) < 0 {
			r.at++
		}
		if first == '-' || '0' <= first && first <= '9' {
			return r.text[start:r.at], checkNumber(r.text[start:r.at])
		}
	}
	return r.text[start:r.at], nil
}

// checkNumber refuses a number that some reader could not hold.
func checkNumber(literal []byte) error {
	if len(literal) > MaxNumber {
		return malformed("A number must be at most 64 characters long.")
	}
	if bytes.ContainsAny(literal, "eE") { // without an exponent it is finite
		if _, err := strconv.ParseFloat(string(literal), 64); err != nil {
			return malformed("A number must be finite as a 64-bit float.")
		}
	}
	return nil
}

// whole passes over the next value, and returns it as it is written.
func (r *reader) whole() (jsontext.Value, error) {
	r.peek()
	for start, depth := r.at, r.depth; ; {
		if _, err := r.next(); err != nil || r.depth == depth {
			return r.text[start:r.at], err
		}
	}
}

// unquote is what a string says, until the next one is unquoted.
func (r *reader) unquote(quoted jsontext.Value) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	r.plain, _ = jsontext.AppendUnquote(r.plain[:0], quoted) // it is valid
	return r.plain
}

// wrong is what is wrong with a value. It names members that the protocol knows, and nothing else of the body.
type wrong struct {
	at   string // such as context.userMessages.0
	must string // such as "must be an object"
}

func (w *wrong) Error() string { return cmp.Or(w.at, "The body") + " " + w.must + "." }

func must(what string) error { return &wrong{must: "must " + what} }

// in adds where a value is to what is wrong with it.
func in(name string, err error) error {
	if w, ok := errors.AsType[*wrong](err); ok {
		w.at = strings.TrimSuffix(name+"."+w.at, ".")
	}
	return err
}

// shape is what the tags of a struct say of an object on the wire. A string is at most 512 bytes without control
// characters, since it may become a part of keys, prompts and log lines; a tag "max" says another bound, 0 none, and
// that of a list its entries, otherwise 4096. A number is whole and not negative. What is tagged "need" must be there,
// "always" or in the events that it names; null is not there. Members of other names are passed over, unless a blank
// field is tagged `others:"refused"`.
type shape struct {
	members []member
	closed  bool
}

type member struct {
	name, need string
	field      []int
	most       int
}

// Types that know how they are written, and structs that have something to check or work out once they are read.
type (
	custom  interface{ read(r *reader) error }
	checked interface{ check() error }
)

var shapes sync.Map // from [reflect.Type] to *[shape]

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape) //nolint:errcheck // nothing else is kept there
	}
	s := &shape{}
	for _, f := range reflect.VisibleFields(t) {
		s.closed = s.closed || f.Tag.Get("others") == "refused"
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			most := MaxText
			if f.Type.Kind() == reflect.Slice {
				most = 4096
			}
			if said, err := strconv.Atoi(f.Tag.Get("max")); err == nil {
				most = said
			}
			s.members = append(s.members, member{name, f.Tag.Get("need"), f.Index, most})
		}
	}
	shapes.Store(t, s)
	return s
}

// object reads an object into a struct, which is given by its address.
func (r *reader) object(into any) error {
	v := reflect.ValueOf(into).Elem()
	s := shapeOf(v.Type())
	if open, err := r.next(); err != nil || open[0] != '{' {
		return cmp.Or(err, must("be an object"))
	}
	for r.peek() != '}' {
		name, _ := r.next()
		m, err := s.member(r.unquote(name))
		if err == nil && m == nil {
			_, err = r.whole()
		} else if err == nil {
			err = in(m.name, r.value(v.FieldByIndex(m.field).Addr().Interface(), m.most))
		}
		if err != nil {
			return err
		}
	}
	_, _ = r.next() // the bracket
	for i := range s.members {
		if m := &s.members[i]; m.need != "" && (m.need == "always" || strings.Contains(m.need, string(r.event))) &&
			v.FieldByIndex(m.field).IsZero() {
			return &wrong{m.name, "is missing"}
		}
	}
	if c, ok := into.(checked); ok {
		return c.check()
	}
	return nil
}

// member is nil where the name is passed over. One that differs from a known one only in case is refused: a reader that
// folds case would take it for that.
func (s *shape) member(name []byte) (*member, error) {
	for i := range s.members {
		if s.members[i].name == string(name) {
			return &s.members[i], nil
		}
	}
	if s.closed {
		return nil, &wrong{must: "has a member that is not part of the protocol"}
	}
	if slices.ContainsFunc(s.members, func(m member) bool { return strings.EqualFold(m.name, string(name)) }) {
		return nil, &wrong{must: "has a member whose name differs from a known one only in case"}
	}
	return nil, nil
}

// value reads the next value into what a pointer points to. most bounds a string or a list.
func (r *reader) value(into any, most int) error {
	switch p := into.(type) {
	case *string:
		text, err := r.string()
		isControl := func(b byte) bool { return b < ' ' || b == 0x7f }
		if most > 0 && (len(text) > most || slices.ContainsFunc(text, isControl)) {
			return must("be at most " + strconv.Itoa(most) + " bytes without control characters")
		}
		*p = string(text)
		return err
	case *bool:
		token, err := r.plainly("tf", "true or false")
		*p = len(token) == len("true")
		return err
	case *int: // at most 31 bits, so that it is one everywhere and no sum overflows
		n, err := r.count(31)
		*p = int(n)
		return err
	case *int64:
		n, err := r.count(63)
		*p = n
		return err
	case *jsontext.Value:
		raw, err := r.whole()
		*p = raw.Clone()
		return err
	case custom:
		return p.read(r)
	case encoding.TextUnmarshaler:
		text, err := r.string()
		if err == nil && text != nil {
			err = p.UnmarshalText(text)
		}
		if _, ok := errors.AsType[*wrong](err); !ok && err != nil {
			return must("be a string that the protocol allows")
		}
		return err
	}
	switch v := reflect.ValueOf(into).Elem(); v.Kind() {
	case reflect.Pointer:
		if r.peek() == 'n' {
			_, err := r.next()
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return r.value(v.Interface(), most)
	case reflect.Slice:
		return r.list(v, most)
	default:
		return r.object(into)
	}
}

// plainly is the next token, which must begin with one of those bytes; nil for null, which is not given.
func (r *reader) plainly(begins, what string) (jsontext.Value, error) {
	token, err := r.next()
	switch {
	case err != nil || token[0] == 'n':
		return nil, err
	case strings.IndexByte(begins, token[0]) < 0:
		return nil, must("be " + what)
	}
	return token, nil
}

// string is what the next value says, until the next one is read; nil for null.
func (r *reader) string() ([]byte, error) {
	token, err := r.plainly(`"`, "a string")
	if token == nil {
		return nil, err
	}
	return r.unquote(token), nil
}

func (r *reader) count(bits int) (int64, error) {
	const what = "a whole number that is not negative"
	token, err := r.plainly("-0123456789", what)
	if token == nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(token), 10, bits)
	if err != nil {
		return 0, must("be " + what)
	}
	return int64(n), nil //nolint:gosec // it fits
}

// list reads the entries of a list. It is bounded while it is read: an empty object takes three bytes in a body and
// many more here.
func (r *reader) list(v reflect.Value, most int) error {
	if open, err := r.plainly("[", "an array"); open == nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for n := 0; r.peek() != ']'; n++ {
		if n == most {
			return must("have at most " + strconv.Itoa(most) + " entries")
		}
		v.Grow(1)
		v.SetLen(n + 1)
		if err := r.value(v.Index(n).Addr().Interface(), MaxText); err != nil {
			return in(strconv.Itoa(n), err)
		}
	}
	_, err := r.next()
	return err
}
