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

// TestAServerCancelsItsOwnQuestionsOnly: not those of another.
func TestAServerCancelsItsOwnQuestionsOnly(t *testing.T) {
	x, toClient, _ := newStill(t)
	if err := x.all[0].pipe.fromServer(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from int
		id   string
		want bool
	}{{1, `"a/1"`, false}, {1, `1`, false}, {1, `{}`, false}, {0, `"a/1"`, false}, {0, `1`, true}} {
		before := len(toClient.text())
		if err := x.all[c.from].pipe.fromServer(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+c.id+`}}`)); err != nil {
			t.Fatal(err)
		}
		if got := toClient.text()[before:]; strings.Contains(got, `"requestId":"a/1"`) != c.want || !c.want && got != "" {
			t.Errorf("%d cancels %s: the client got %q", c.from, c.id, got)
		}
	}
}

// TestAFormOfAddressesHasAScheme: no server gets addresses that it has not named, or those of another.
func TestAFormOfAddressesHasAScheme(t *testing.T) {
	x, _, _ := newStill(t)
	clear(x.templates)
	for _, c := range []struct {
		of   int
		form string
		want bool
	}{{0, "{+path}", false}, {0, "/x/{path}", false}, {0, "file:///{path}", true}, {1, "file:///home/{path}", false}, {1, "f{path}", false}, {1, "file:{path}", false}, {1, "db://{name}", true}, {0, "file:///a/{b}", true}} {
		item := x.all[c.of].listed("resourceTemplates", jsontext.Value(`{"uriTemplate":"`+c.form+`"}`))
		if (item != nil) != c.want {
			t.Errorf("%s of %s is listed as %s", c.form, x.all[c.of].name, item)
		}
	}
	for uri, want := range map[string]*member{"file:///home/x": x.all[0], "db://y": x.all[1], "other://z": nil} {
		if got := x.holder(jsontext.Value(`{"uri":"` + uri + `"}`)); got != want {
			t.Errorf("%s is of %v", uri, got)
		}
	}
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
