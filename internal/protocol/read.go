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
	return nil, errNotJSON
}

var errNotJSON = malformed("The body is not one valid JSON value.")

// peek goes to where the next token begins, and returns its first byte.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c > ' ' && c != ',' && c != ':' {
			return c
		}
	}
	return 0
}

// next is the next token: a bracket, or a name or plain value as it is written.
func (r *reader) next() (jsontext.Value, error) {
	first, start := r.peek(), r.at
	switch r.at++; first {
	case 0:
		return nil, errNotJSON
	case '{', '[':
		if r.depth++; r.depth > MaxDepth {
			return nil, malformed("The body must be nested at most 100 levels deep.")
		}
	case '}', ']':
		r.depth--
	case '"':
		for escaped := true; escaped; { // until the next quote behind an even number of backslashes
			n := bytes.IndexByte(r.text[r.at:], '"')
			if n < 0 {
				return nil, errNotJSON
			}
			before := r.text[start+1 : r.at+n]
			escaped = (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 1
			r.at += n + 1
		}
	default:
		for r.at < len(r.text) && strings.IndexByte(" \t\n\r,]}", r.text[r.at]) < 0 {
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
	if _, err := strconv.ParseFloat(string(literal), 64); errors.Is(err, strconv.ErrRange) {
		return malformed("A number must be finite as a 64-bit float.")
	}
	return nil
}

// whole passes over the next value, and returns it as it is written.
func (r *reader) whole() (jsontext.Value, error) {
	r.peek()
	for start, depth := r.at, r.depth; ; {
		if _, err := r.next(); err != nil {
			return nil, err
		}
		if r.depth == depth {
			return r.text[start:r.at], nil
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
	checked bool
}

type member struct {
	name  string
	index []int // of the field
	need  string
	read  read
}

// read reads the next value into a field.
type read func(r *reader, into reflect.Value) error

// set sets a field to what a token says, which is of the right kind.
type set func(r *reader, field reflect.Value, token []byte) error

// custom is a type that knows how it is written.
type custom interface{ read(r *reader) error }

// checked is a struct that has something to check, or to work out, once it is read.
type checked interface{ check() error }

var shapes sync.Map // from [reflect.Type] to *[shape]

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape) //nolint:errcheck // nothing else is kept there
	}
	s := &shape{checked: reflect.PointerTo(t).Implements(reflect.TypeFor[checked]())}
	for _, f := range reflect.VisibleFields(t) {
		s.closed = s.closed || f.Tag.Get("others") == "refused"
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			s.members = append(s.members, member{name, f.Index, f.Tag.Get("need"), readOf(f.Type, f.Tag.Get("max"))})
		}
	}
	shapes.Store(t, s)
	return s
}

// object reads an object into a struct, which is given by its address.
func (r *reader) object(into any) error {
	v := reflect.ValueOf(into).Elem()
	return shapeOf(v.Type()).read(r, v)
}

func (s *shape) read(r *reader, v reflect.Value) error {
	open, err := r.next()
	if err != nil {
		return err
	}
	if open[0] != '{' {
		return must("be an object")
	}
	for {
		name, err := r.next()
		if err != nil {
			return err
		}
		if name[0] == '}' {
			break
		}
		m, err := s.member(r.unquote(name))
		if err == nil && m == nil {
			_, err = r.whole()
		} else if err == nil {
			err = in(m.name, m.read(r, v.FieldByIndex(m.index)))
		}
		if err != nil {
			return err
		}
	}
	for i := range s.members {
		m := &s.members[i]
		if m.need != "" && (m.need == "always" || strings.Contains(m.need, string(r.event))) &&
			v.FieldByIndex(m.index).IsZero() {
			return &wrong{m.name, "is missing"}
		}
	}
	if s.checked {
		return v.Addr().Interface().(checked).check() //nolint:errcheck // it is one
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

// readOf reads values of a type.
func readOf(t reflect.Type, most string) read {
	begins, what, set := "-0123456789", "a whole number that is not negative", set(setCount)
	switch p, k := reflect.PointerTo(t), t.Kind(); {
	case p.Implements(reflect.TypeFor[custom]()):
		return func(r *reader, v reflect.Value) error {
			return v.Addr().Interface().(custom).read(r) //nolint:errcheck // it is one
		}
	case t == reflect.TypeFor[jsontext.Value]():
		return func(r *reader, v reflect.Value) error {
			raw, err := r.whole()
			v.SetBytes(bytes.Clone(raw))
			return err
		}
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		begins, what, set = `"`, "a string", setText
	case k == reflect.Struct:
		return shapeOf(t).read
	case k == reflect.Pointer:
		read := readOf(t.Elem(), most)
		return func(r *reader, v reflect.Value) error {
			if r.peek() == 'n' {
				_, err := r.next()
				return err
			}
			v.Set(reflect.New(t.Elem()))
			return read(r, v.Elem())
		}
	case k == reflect.Slice:
		begins, what, set = "[", "an array", setList(readOf(t.Elem(), ""), limit(most, 4096))
	case k == reflect.String:
		begins, what, set = `"`, "a string", setString(limit(most, MaxText))
	case k == reflect.Bool:
		begins, what, set = "tf", "true or false", setBool
	}
	return func(r *reader, v reflect.Value) error {
		switch token, err := r.next(); {
		case err != nil || token[0] == 'n': // null
			return err
		case strings.IndexByte(begins, token[0]) < 0:
			return must("be " + what)
		default:
			return set(r, v, token)
		}
	}
}

func limit(most string, otherwise int) int {
	if n, err := strconv.Atoi(most); err == nil {
		return n
	}
	return otherwise
}

func setText(r *reader, v reflect.Value, token []byte) error {
	err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(r.unquote(token)) //nolint:errcheck // it is one
	if _, ok := errors.AsType[*wrong](err); !ok && err != nil {
		return must("be a string that the protocol allows")
	}
	return err
}

func setString(most int) set {
	isControl := func(b byte) bool { return b < ' ' || b == 0x7f }
	return func(r *reader, v reflect.Value, token []byte) error {
		text := r.unquote(token)
		if most > 0 && (len(text) > most || slices.ContainsFunc(text, isControl)) {
			return must("be at most " + strconv.Itoa(most) + " bytes without control characters")
		}
		v.SetString(string(text))
		return nil
	}
}

func setBool(_ *reader, v reflect.Value, token []byte) error {
	v.SetBool(token[0] == 't')
	return nil
}

// setCount sets a number of at most 31 bits where it is an int, so that it is one everywhere and no sum overflows.
func setCount(_ *reader, v reflect.Value, token []byte) error {
	bits := 31
	if v.Kind() == reflect.Int64 {
		bits = 63
	}
	n, err := strconv.ParseUint(string(token), 10, bits)
	if err != nil {
		return must("be a whole number that is not negative")
	}
	v.SetInt(int64(n)) //nolint:gosec // it fits
	return nil
}

// setList reads the entries of a list. It is bounded while it is read: an empty object takes three bytes in a body and
// many more here.
func setList(entry read, most int) set {
	return func(r *reader, v reflect.Value, _ []byte) error {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		for n := 0; r.peek() != ']'; n++ {
			if n == most {
				return must("have at most " + strconv.Itoa(most) + " entries")
			}
			v.Grow(1)
			v.SetLen(n + 1)
			if err := entry(r, v.Index(n)); err != nil {
				return in(strconv.Itoa(n), err)
			}
		}
		_, err := r.next()
		return err
	}
}
