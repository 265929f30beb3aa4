package redact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads JSON that was found valid, value after value, in place: the text
// between values carries no meaning then, and no reading can fail. What it returns is
// part of the text.
type scan struct {
	text    string
	at      int
	depth   int
	literal bool // nothing in it is escaped
}

// kind returns what comes next: a value, or the bracket that ends the object or
// array around it.
func (s *scan) kind() jsontext.Kind {
	for {
		if kind := kinds[s.text[s.at]]; kind != between {
			return kind
		}
		s.at++
	}
}

// between is the kind of what is between values.
const between = jsontext.Kind(' ')

// kinds are what comes next by its first byte.
var kinds = func() (all [256]jsontext.Kind) {
	for b := range all {
		all[b] = jsontext.Kind(b)
	}
	for _, b := range []byte(" \t\n\r,:") {
		all[b] = between
	}
	for _, b := range []byte("-0123456789") {
		all[b] = jsontext.KindNumber
	}
	return all
}()

// enter and leave pass the bracket that comes next.
func (s *scan) enter() {
	s.at++
	s.depth++
}

func (s *scan) leave() {
	s.at++
	s.depth--
}

// value returns the next value as it is written, and passes it.
func (s *scan) value() string {
	kind, start := s.kind(), s.at
	switch kind {
	case jsontext.KindString:
		s.passString()
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		s.passNested()
	default:
		for s.at < len(s.text) && !endsLiteral(s.text[s.at]) {
			s.at++
		}
	}
	return s.text[start:s.at]
}

// says returns what a string of the text reads.
func (s *scan) says(raw string) string {
	if s.literal {
		return raw[1 : len(raw)-1]
	}
	return text(raw)
}

// endsLiteral is for what follows a number, true, false or null.
func endsLiteral(b byte) bool { return b <= ' ' || b == ',' || b == ']' || b == '}' }

func (s *scan) passString() {
	for s.at++; ; s.at++ {
		s.at += strings.IndexByte(s.text[s.at:], '"')
		slashes := 0
		for s.text[s.at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			break
		}
	}
	s.at++
}

// passNested counts brackets, which strings may hold too.
func (s *scan) passNested() {
	for open := 0; ; {
		switch s.text[s.at] {
		case '"':
			s.passString()
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		s.at++
		if open == 0 {
			return
		}
	}
}
