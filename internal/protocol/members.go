package protocol

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeEvent reads one event. Every error it returns is a [*Malformed].
func DecodeEvent(name Name, body []byte) (Event, error) {
	e := Event{Name: name}
	fields := e.fields()
	if fields == nil {
		return Event{}, malformed("There is no event of this name.")
	}
	call, about, err := DecodeAbout(body, MaxEventBody, "event")
	if err != nil {
		return Event{}, err
	}
	e.Call = call
	if err := (value{"event", about}).members(fields...); err != nil {
		return Event{}, err
	}
	return e, nil
}

// field is one member that an object may have, and what reads it.
type field struct {
	name   string
	needed bool
	read   func(v value) error
}

func needed(name string, read func(v value) error) field { return field{name, true, read} }

func optional(name string, read func(v value) error) field { return field{name, false, read} }

// into reads a member and keeps it.
func into[T any](to *T, read func(v value) (T, error)) func(v value) error {
	return func(v value) (err error) {
		*to, err = read(v)
		return err
	}
}

// checked reads a member that is not kept: it must have the right type all the same.
func checked[T any](read func(v value) (T, error)) func(v value) error { return into(new(T), read) }

// members reads the fields of an object, each once and by its exact name. Other members are passed over: a runtime
// may send its event as it is. Null means that an optional member is not given.
func (v value) members(fields ...field) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v.raw), jsontext.AllowDuplicateNames(true)) // the body has none
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return malformed(v.what + " must be an object.")
	}
	met := make(map[string]bool, len(fields))
	for dec.PeekKind() == jsontext.KindString {
		tok, err := dec.ReadToken()
		if err != nil {
			return malformed(v.what + " could not be read.")
		}
		f, err := v.find(tok.String(), fields)
		if err != nil {
			return err
		}
		raw, err := dec.ReadValue()
		switch {
		case err != nil:
			return malformed(v.what + " could not be read.")
		case f.read == nil || raw.Kind() == jsontext.KindNull:
			continue
		}
		met[f.name] = true
		if err := f.read(value{v.what + "." + f.name, raw}); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if f.needed && !met[f.name] {
			return malformed(v.what + "." + f.name + " is missing.")
		}
	}
	return nil
}

// find is the field of a name; the zero field: there is none. A name that differs from a known one only in case would
// be the known one for a reader that folds case.
func (v value) find(name string, fields []field) (field, error) {
	for _, f := range fields {
		if f.name == name {
			return f, nil
		}
		if strings.EqualFold(f.name, name) {
			return field{}, malformed(v.what + " has a member whose name differs from a known one only in case.")
		}
	}
	return field{}, nil
}
