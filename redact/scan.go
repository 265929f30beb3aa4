package redact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads JSON that was found valid, value after value, in place: what stands
// between values tells nothing then, and no reading can fail. What it returns is
// part of the text.
type scan struct {
	text  string
	at    int
	depth int
}

// kind returns what comes next: a value, or the bracket that ends the object or
// array around it.
func (s *scan) kind() jsontext.Kind {
	for {
		switch b := s.text[s.at]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			s.at++
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return jsontext.KindNumber
		default:
			return jsontext.Kind(b)
		}
	}
}

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
		for s.at < len(s.text) && strings.IndexByte(" \t\n\r,]}", s.text[s.at]) < 0 {
			s.at++
		}
	}
	return s.text[start:s.at]
}

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
