package protocol_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

const head = `{"version":1,"timestamp":"2026-02-12T15:30:00Z","requestId":"r-1"`

func body(event string) []byte {
	return []byte(head + `,"context":{"sessionKey":"agent:main:main","runId":"run-1"},"event":` + event + `}`)
}

func decode(t *testing.T, name protocol.Name, event string) protocol.Event {
	t.Helper()
	e, err := protocol.DecodeEvent(name, body(event))
	if err != nil {
		t.Fatalf("%s %.200s: %v", name, event, err)
	}
	return e
}

// vectors are the documented ones.
type vectors struct {
	Events []struct {
		Name string `json:"name"`
		Path string `json:"path"`
		Body string `json:"body"`
	} `json:"events"`
	Malformed []struct {
		Name string `json:"name"`
		Path string `json:"path"`
		Body string `json:"body"`
	} `json:"malformed"`
}

func documented(t testing.TB) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("../../docs/spec/event-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheDocumentedEventsAreDecodedAndTheMalformedRefused(t *testing.T) {
	v, n := documented(t), 0
	for _, e := range v.Events {
		name, ok := strings.CutPrefix(e.Path, "/hooks/")
		if !ok || name == string(protocol.BeforeToolCall) {
			continue
		}
		n++
		if _, err := protocol.DecodeEvent(protocol.Name(name), []byte(e.Body)); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, m := range v.Malformed {
		if name, ok := strings.CutPrefix(m.Path, "/hooks/"); ok {
			n++
			_, err := protocol.DecodeEvent(protocol.Name(name), []byte(m.Body))
			if _, ok := errors.AsType[*protocol.Malformed](err); !ok {
				t.Errorf("%s: got %v", m.Name, err)
			}
		}
	}
	if n < 30 {
		t.Errorf("the file has lost its vectors: %d", n)
	}
}

func TestWhatIsSaidIsRead(t *testing.T) {
	e := decode(
		t,
		protocol.ContextAssembled,
		`{"sources":[{"kind":"tool_result","tool":"Bash","trust":"shared","senderId":"9","senderIsOwner":false,"size":3,
		"contentHash":"sha256:`+strings.Repeat("a", 64)+`","fingerprints":"ASNFZ4mrze8=",
		"other":[{}]}],"messages":[1],"anything":{"x":[]}}`,
	)
	s := e.Sources[0]
	if s.Kind != protocol.KindToolResult || s.Tool != "exec" || *s.Trust != taint.Shared || s.SenderID != "9" ||
		s.Size != 3 ||
		len(s.Seen) != 8 ||
		s.Hash == "" {
		t.Errorf("%+v", s)
	}
	if e.Call.Context.RunID != "run-1" || e.Call.RequestID != "r-1" || e.Call.Tool != "" ||
		e.Messages.Hash != protocol.HashOf("[1]") {
		t.Errorf("%+v", e)
	}
	r := decode(
		t,
		protocol.AfterToolCall,
		`{"toolName":" EXEC ","toolCallId":"c","error":true,"durationMs":5,"size":7,"origin":"a.b","marked":true,`+
			`"result":"abc","contentHash":null}`,
	).Returned
	if r.Tool != "exec" || r.ToolCallID != "c" || !r.Error || r.DurationMs != 5 || r.Size != 7 || r.Origin != "a.b" ||
		!r.Marked ||
		r.Hash != protocol.HashOf("abc") {
		t.Errorf("%+v", r)
	}
	w := decode(
		t,
		protocol.AfterLLMCall,
		`{"toolCalls":[{"id":"1","name":"exec","arguments":{"a":1.0}},{"name":"x"}],"iteration":2,"model":"m",`+
			`"response":{"a":1}}`,
	)
	if len(w.Wanted) != 2 || string(w.Wanted[0].Arguments) != `{"a":1.0}` || string(w.Wanted[1].Arguments) != "{}" ||
		*w.Iteration != 2 {
		t.Errorf("%+v", w)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	v := documented(f)
	for _, e := range v.Events {
		f.Add(strings.TrimPrefix(e.Path, "/hooks/"), []byte(e.Body))
	}
	for _, e := range v.Malformed {
		f.Add(strings.TrimPrefix(e.Path, "/hooks/"), []byte(e.Body))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		e, err := protocol.DecodeEvent(protocol.Name(name), text)
		if err != nil {
			if _, ok := errors.AsType[*protocol.Malformed](err); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		if e.Call.RequestID == "" || e.Call.Tool != "" || e.Call.Client != "" || len(e.Sources) > 256 ||
			len(e.Tools) > 4096 {
			t.Fatalf("%+v", e)
		}
		for _, w := range e.Wanted {
			if w.Name == "" || !w.Arguments.IsValid() || !w.Sent.IsValid() {
				t.Fatalf("%+v", w)
			}
		}
		for _, s := range e.Sources {
			if s.Trust != nil && !s.Trust.Valid() {
				t.Fatalf("%+v", s)
			}
		}
		a := protocol.Answer{SystemPrompt: string(text), Block: true}
		var back protocol.Answer
		if err := json.Unmarshal(a.JSON(), &back); err != nil || !back.Block {
			t.Fatalf("%s: %v", a.JSON(), err)
		}
	})
}
