package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// still is a server that keeps what it gets and says nothing.
type still struct {
	sender

	got *stream
}

func (*still) receive(func([]byte) error) error { select {} }
func (*still) close()                           {}
func (*still) end(bool) int                     { return 0 }

// newStill are two servers behind one gate, which the gateway lets call nothing.
func newStill(t *testing.T) (x *many, toClient *stream, got []*stream) {
	t.Helper()
	toClient = newStream()
	o := Options{Definitions: Definitions{t.TempDir()}, Open: func() (Session, error) { return &says{}, nil }, Log: io.Discard}
	x = &many{client: &sender{w: toClient}, log: &gate{Options: o}, open: map[string]bool{}, own: map[string]chan message{}, questions: map[string]question{}, resources: map[string]*member{}, templates: map[string]*member{}}
	for _, name := range []string{"a", "b"} {
		s := newStream()
		m := &member{many: x, name: name, back: &still{sender{w: s}, s}, up: true, can: map[string]jsontext.Value{"tools": jsontext.Value("{}")}}
		own := o
		own.Server = name
		m.pipe = newPipe(own, m, m.back)
		x.all, got = append(x.all, m), append(got, s)
	}
	x.resources["x://a"], x.templates["y://"] = x.all[0], x.all[1]
	return x, toClient, got
}

// FuzzManyFromClient: where the gateway denies everything, no line makes a server see a call, however it reads the line; and
// no line goes to two servers, but for notifications.
func FuzzManyFromClient(f *testing.F) {
	for _, line := range []string{
		strings.Replace(aCall, `"write"`, `"a__write"`, 1), strings.Replace(aCall, `"write"`, `"a__b__write"`, 1), "[" + aCall + "]",
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"b__x","name":"a__y"}}`, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"y://z"},"argument":{}}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"b__tools/call","x":{"method":"tools/call"}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') {
			return
		}
		if m, err := decode(line, false); err == nil && m.isRequest() {
			if to, _, _ := mustRoute(t, &m); to == nil {
				return // it is answered by asking all servers, which are silent here
			}
		}
		x, _, got := newStill(t)
		if err := x.fromClient(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			for _, method := range loose(s.text()) {
				if method == "tools/call" {
					t.Errorf("a server sees a call: %q", s.text())
				}
			}
		}
		if a, b := got[0].text(), got[1].text(); a != "" && b != "" && (a != b || !strings.Contains(a, "notifications/")) {
			t.Errorf("%q went to both", line)
		}
	})
}

func mustRoute(t *testing.T, m *message) (*member, []byte, *refusal) {
	t.Helper()
	x, _, _ := newStill(t)
	return x.route(m)
}

// TestIDsOfServersDoNotMix: two servers ask the client with one id, and each gets its own answer.
func TestIDsOfServersDoNotMix(t *testing.T) {
	x, toClient, got := newStill(t)
	for _, m := range x.all {
		if err := m.pipe.fromServer(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if text := toClient.text(); !strings.Contains(text, `"id":"a/1"`) || !strings.Contains(text, `"id":"b/2"`) {
		t.Fatalf("the client got %q", text)
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":"b/2","result":{"roots":["b"]}}`, `{"jsonrpc":"2.0","id":"a/1","result":{"roots":["a"]}}`, `{"jsonrpc":"2.0","id":"a/1","result":{"roots":["twice"]}}`} {
		if err := x.fromClient(t.Context(), []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"a", "b"} {
		if want := `{"jsonrpc":"2.0","id":1,"result":{"roots":["` + name + `"]}}` + "\n"; got[i].text() != want {
			t.Errorf("%s got %q", name, got[i].text())
		}
	}
}
