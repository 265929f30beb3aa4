package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// event is one of a stream of server-sent events.
type event struct {
	id    *string // nil: it has none
	retry string
	name  string
	data  []byte // in one line
}

// empty reports whether there is nothing in it: only comments came.
func (e *event) empty() bool {
	return e.id == nil && e.retry == "" && e.name == "" && e.data == nil
}

// events reads a stream of server-sent events.
type events struct {
	r  *bufio.Reader
	cr bool // what was read last is \r: a \n behind it belongs to it
}

func newEvents(r io.Reader) *events {
	s := &events{r: bufio.NewReaderSize(r, 64<<10)}
	if mark, err := s.r.Peek(3); err == nil && string(mark) == "\ufeff" {
		s.r.Discard(3) //nolint:errcheck // it was peeked at
	}
	return s
}

var errEvent = errors.New("the server's stream can't be read")

// next is the next event. What comes before the end of the stream without an empty line behind it is no event. Ends of
// lines in data are spaces: JSON means the same then.
func (s *events) next() (e event, err error) {
	size, comment := 0, false
	for {
		line, err := s.line(maxMessage - size)
		if err != nil {
			return e, err
		}
		size += len(line) + 1
		if len(line) == 0 {
			if e.empty() && !comment {
				continue
			}
			return e, nil
		}
		comment = comment || line[0] == ':'
		if err := e.add(line); err != nil {
			return e, err
		}
	}
}

// add takes one line of the event.
func (e *event) add(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.data == nil {
			e.data = []byte{}
		} else {
			e.data = append(e.data, ' ')
		}
		e.data = append(e.data, value...)
	case "event":
		e.name = string(value)
	case "id":
		if len(value) > longestID || bytes.IndexByte(value, 0) >= 0 {
			return errEvent
		}
		id := string(value)
		e.id = &id
	case "retry":
		if len(value) < 10 && strings.Trim(string(value), "0123456789") == "" {
			e.retry = string(value)
		}
	}
	return nil
}

// line is the next line, without its end: \n, \r or both.
func (s *events) line(most int) ([]byte, error) {
	out := []byte{}
	for {
		if _, err := s.r.Peek(1); err != nil {
			return nil, err
		}
		part, err := s.r.Peek(s.r.Buffered())
		if err != nil {
			return nil, err
		}
		if s.cr && part[0] == '\n' {
			part = part[:1]
		}
		end := bytes.IndexAny(part, "\r\n")
		text := part
		if end >= 0 {
			text, part = part[:end], part[:end+1]
		}
		if len(out)+len(text) > most {
			return nil, errTooLong
		}
		out = append(out, text...)
		rest := s.cr && end == 0 && part[0] == '\n'
		s.cr = end >= 0 && part[end] == '\r'
		if _, err := s.r.Discard(len(part)); err != nil {
			return nil, err
		}
		if end >= 0 && !rest {
			return out, nil
		}
	}
}
