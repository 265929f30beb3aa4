package mcp

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// all are the events of a stream, and how it ended.
func all(r io.Reader) (out []event, err error) {
	for s := newEvents(r); ; {
		e, err := s.next()
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	id := func(s string) *string { return &s }
	for text, want := range map[string][]event{
		"data: a\n\n":                                {{data: []byte("a")}},
		"data:a\r\rdata: b\r\n\r\n":                  {{data: []byte("a")}, {data: []byte("b")}},
		"\ufeffdata: {\ndata: }\n\n":                 {{data: []byte("{ }")}},
		": x\n\nid: 1\nretry: 5\nevent: message\n\n": {{}, {id: id("1"), retry: "5", name: "message"}},
		"id\ndata\n\n":                               {{id: id(""), data: []byte{}}},
		"retry: x\nother: y\n\n\n":                   nil,
		"data: never ended\n":                        nil,
	} {
		got, err := all(strings.NewReader(text))
		if !reflect.DeepEqual(got, want) || !errors.Is(err, io.EOF) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

// FuzzEvents: a stream is the same however it is cut into pieces, and the data of an event is one line.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{"data: a\n\n", "id: 1\r\ndata: {\r\ndata: }\r\n\r\n", "\ufeff:\n\nevent: endpoint\rdata:x\r\r", "retry: 1\nid: \x00\n\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := all(bytes.NewReader(text))
		pieces, err2 := all(iotest.OneByteReader(bytes.NewReader(text)))
		if !reflect.DeepEqual(got, pieces) || !errors.Is(err2, err) {
			t.Fatalf("%q is %+v, %v or %+v, %v", text, got, err, pieces, err2)
		}
		for i := range got {
			if bytes.ContainsAny(got[i].data, "\r\n") {
				t.Fatalf("%q has the data %q", text, got[i].data)
			}
		}
	})
}

// FuzzLines: lines are the same however they are cut into pieces, and hold no end of a line.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n\r\n[]\nx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := func(r io.Reader) (out []string) {
			for l := newLines(r); ; {
				line, err := l.next()
				if err != nil {
					return out
				}
				out = append(out, string(line))
			}
		}
		whole, pieces := read(bytes.NewReader(text)), read(iotest.OneByteReader(bytes.NewReader(text)))
		if !reflect.DeepEqual(whole, pieces) || len(whole) > 0 && !strings.HasPrefix(string(text), strings.Join(whole, "\n")+"\n") {
			t.Fatalf("%q is %q or %q", text, whole, pieces)
		}
	})
}
