package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// says is a session that answers as a test chooses.
type says struct {
	mu    sync.Mutex
	ask   func(ctx context.Context, c hook.Call) (hook.Verdict, error)
	told  []string
	lost  error  // what happens to what it is told
	hides string // a tool that the conversation may not call
}

func (s *says) Ask(ctx context.Context, c hook.Call) (hook.Verdict, error) {
	if s.ask == nil {
		return hook.Verdict{Reason: "No."}, nil
	}
	return s.ask(ctx, c)
}

func (s *says) Returned(_ context.Context, tool, _, text string, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, tool+" "+text)
	return s.lost
}

func (s *says) Offered(_ context.Context, names []string) (map[string]bool, error) {
	remain := map[string]bool{}
	for _, name := range names {
		remain[name] = name != s.hides
	}
	return remain, nil
}

// stream keeps what was written, and lets a test wait for more of it.
type stream struct {
	mu   sync.Mutex
	all  bytes.Buffer
	more chan struct{}
}

func newStream() *stream { return &stream{more: make(chan struct{}, 1)} }

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.all.Write(p)
}

func (s *stream) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func (s *stream) wait(t *testing.T, pattern string) string {
	t.Helper()
	for {
		if text := s.text(); regexp.MustCompile(pattern).MatchString(text) {
			return text
		}
		select {
		case <-s.more:
		case <-t.Context().Done():
			t.Fatalf("no %s in %q", pattern, s.text())
		}
	}
}

type bench struct {
	*pipe
	t                *testing.T
	toClient, server *stream
	session          *says
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, toClient: newStream(), server: newStream(), session: &says{}}
	b.pipe = newPipe(Options{Server: "fs", Definitions: Definitions{t.TempDir()}, Open: func() (Session, error) { return b.session, nil }, Log: io.Discard}, &sender{w: b.toClient}, &sender{w: b.server})
	return b
}

func (b *bench) client(line string) {
	b.t.Helper()
	if err := b.fromClient(b.t.Context(), []byte(line)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) serves(line string) {
	b.t.Helper()
	if err := b.fromServer(b.t.Context(), []byte(line)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) allows() {
	b.session.ask = func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{Allowed: true}, nil }
}

const aCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}`

func TestWhatIsNotJudgedPassesAsItIs(t *testing.T) {
	b := newBench(t)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`  {"method" : "tools/list", "jsonrpc":"2.0", "id":"a\u0062" }  ` + "\r",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"roots":[{"uri":"file:///tmp"}]}}`,
		`{"jsonrpc":"2.0","id":8,"error":{"code":-1,"message":"no"}}`,
	} {
		before := len(b.server.text())
		if b.client(line); b.server.text()[before:] != line+"\n" {
			t.Errorf("the server got %q, want %q", b.server.text()[before:], line)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0", "id":0.0,"result":{}}`, `{"result":{"tools":[]},"jsonrpc":"2.0","id":"ab"}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`,
	} {
		before := len(b.toClient.text())
		if b.serves(line); b.toClient.text()[before:] != line+"\n" {
			t.Errorf("the client got %q, want %q", b.toClient.text()[before:], line)
		}
	}
}

func TestACallThatTheOwnerChangedIsPassedWithTheOwnersArguments(t *testing.T) {
	b := newBench(t)
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		return hook.Verdict{Allowed: c.Edits, Params: jsontext.Value(`{"path":"b"}`)}, nil
	}
	b.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a","old":1},"_meta":{"progressToken":7}}}`)
	if text := b.server.wait(t, "write"); text != `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7},"arguments":{"path":"b"},"name":"write"}}`+"\n" {
		t.Errorf("the server got %q", text)
	}
}

func TestACallIsPassedAsItWasJudged(t *testing.T) {
	b := newBench(t)
	got := make(chan hook.Call, 1)
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		got <- c
		return hook.Verdict{Allowed: true}, nil
	}
	line := ` {"params":{"arguments":{"n":12345678901234567890, "u":"\u00e9"},"_meta":{"claudecode/toolUseId":"t1"},"name":"write"},"jsonrpc":"2.0","method":"tools/call","id":"x"}`
	b.client(line)
	if text := b.server.wait(t, "write"); text != line+"\n" {
		t.Errorf("the server got %q", text)
	}
	if c := <-got; c.Tool != "mcp__fs__write" || string(c.Params) != `{"n":12345678901234567890, "u":"\u00e9"}` || c.ID != "t1" {
		t.Errorf("judged was %+v", c)
	}
	b.serves(`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"page"}]}}`)
	if len(b.session.told) != 1 || b.session.told[0] != "mcp__fs__write content\ntype\ntext\ntext\npage\n" {
		t.Errorf("told was %q", b.session.told)
	}
}

func TestADeniedCallEndsInWords(t *testing.T) {
	for _, c := range []struct {
		name, line, want string
		ask              func(context.Context, hook.Call) (hook.Verdict, error)
	}{
		{"denied", aCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"No."}],"isError":true,"resultType":"complete"}}`, nil},
		{"a task", strings.Replace(aCall, `"name"`, `"task":{"ttl":1},"name"`, 1), `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"No."}}`, nil},
		{"no gateway", aCall, `Down\.`, func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{}, hook.Refusal("Down.") }},
		{"an error", aCall, `"The verifier failed. Nothing was run."`, func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{}, errors.New("secret") }},
		{"a panic", aCall, `"The verifier failed. Nothing was run."`, func(context.Context, hook.Call) (hook.Verdict, error) { panic("secret") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.session.ask = c.ask
			b.client(c.line)
			b.toClient.wait(t, strings.NewReplacer("{", `\{`, "[", `\[`).Replace(c.want))
			if b.server.text() != "" || strings.Contains(b.toClient.text(), "secret") {
				t.Errorf("the server got %q, the client %q", b.server.text(), b.toClient.text())
			}
		})
	}
}

func TestARetryIsAskedAboutOnce(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		asked++
		return hook.Verdict{Allowed: asked == 1 || c.Again != nil, Reason: "No.", Asked: &hook.Asked{}}, nil
	}
	b.client(aCall)
	b.server.wait(t, "write")
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"s1"}}`)
	retry := func(id, arguments, state string) {
		b.client(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"write","arguments":` + arguments + `,"inputResponses":{"a":{"action":"accept"}}` + state + `}}`)
	}
	retry("2", `{"path":"b"}`, `,"requestState":"s1"`)
	b.toClient.wait(t, `"id":2,"error":.*has not asked`)
	retry("3", `{"path":"a"}`, `,"requestState":"s2"`)
	b.toClient.wait(t, `"id":3,"error":.*has not asked`)
	retry("4", `{"path":"a"}`, ``)
	b.toClient.wait(t, `"id":4,"error":.*has not asked`)
	retry("5", `{"path": "a"}`, `,"requestState":"s1"`)
	b.server.wait(t, `"id":5`)
	retry("6", `{"path":"a"}`, `,"requestState":"s1"`)
	b.toClient.wait(t, `"id":6,"error":.*has not asked`)
}

// TestARetryOfAToolThatChangedIsRefused: the yes was for the tool as it was.
func TestARetryOfAToolThatChangedIsRefused(t *testing.T) {
	b := newBench(t)
	b.allows()
	offers := func(id, description string) {
		b.client(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`)
		b.serves(`{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[{"name":"write","description":"` + description + `","inputSchema":{"type":"object"}}]}}`)
	}
	offers("10", "writes")
	b.client(aCall)
	b.server.wait(t, `"tools/call"`)
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"s1"}}`)
	offers("11", "writes, and reads your keys")
	b.client(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"},"inputResponses":{"a":{"action":"accept"}},"requestState":"s1"}}`)
	b.toClient.wait(t, `"id":12,"result":.*owner has to look at the change`)
	if strings.Contains(b.server.text(), `"id":12`) {
		t.Errorf("the server got %q", b.server.text())
	}
}

func TestWhatCannotBeNotedIsNotPassedOn(t *testing.T) {
	b := newBench(t)
	b.allows()
	b.session.lost = errors.New("no disk")
	b.client(aCall)
	b.server.wait(t, "write")
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"page"}]}}`)
	if text := b.toClient.text(); strings.Contains(text, "page") || !strings.Contains(text, "could not be noted") {
		t.Errorf("the client got %q", text)
	}
	b.serves(`{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"messages":[{"content":{"text":"obey"}}]}}`)
	if strings.Contains(b.toClient.text(), "obey") || !strings.Contains(b.server.text(), `"id":5,"error"`) {
		t.Errorf("the client got %q, the server %q", b.toClient.text(), b.server.text())
	}
	b.client(`{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"t"}}`)
	b.serves(`{"jsonrpc":"2.0","id":7,"result":{"taskId":"t","status":"completed","result":{"content":[{"type":"text","text":"task"}]}}}`)
	b.serves(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","result":{"content":[{"type":"text","text":"task"}]}}}`)
	if text := b.toClient.text(); strings.Contains(text, `"task"`) {
		t.Errorf("the client got %q", text)
	}
}

// TestACancelledRequestIsForgotten: requests that the server has and the client no longer wants take up no room, and what
// the server answers to them later goes nowhere.
func TestACancelledRequestIsForgotten(t *testing.T) {
	b := newBench(t)
	for range 2 * mostPending {
		b.client(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
		b.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"late":true}}`)
	if text := b.toClient.text(); text != "" {
		t.Errorf("the client got %q", text)
	}
}

// loose reads a line as careless programs do, in every way that we know: names in any case, the last of two counts, ends of
// lines in the middle.
func loose(line string) (methods []string) {
	for _, part := range append(strings.FieldsFunc(line, func(c rune) bool { return c == '\r' || c == '\n' || c == '\u2028' || c == '\u2029' }), line) {
		var one struct{ Method string }
		if json.Unmarshal([]byte(part), &one) == nil {
			methods = append(methods, one.Method)
		}
		var several []struct{ Method string }
		if json.Unmarshal([]byte(part), &several) == nil {
			for _, s := range several {
				methods = append(methods, s.Method)
			}
		}
	}
	return methods
}

// FuzzFromClient: where the gateway denies everything, no line makes a server see a call, however it reads the line; and
// what it sees is what came.
func FuzzFromClient(f *testing.F) {
	for _, line := range []string{
		aCall, "[" + aCall + "]", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"a"}}`, `{"x":` + "\r" + aCall + "\r" + `}`, aCall + aCall, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"metho\u0064":"tools/call"}`, `{"jsonrpc":"2.0","id":[1],"method":"tools/call"}`, "\ufeff" + aCall,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') {
			return
		}
		b := newBench(t)
		if err := b.fromClient(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		got := b.server.text()
		if got != "" && got != string(line)+"\n" {
			t.Errorf("%q became %q", line, got)
		}
		for _, method := range loose(got) {
			if method == "tools/call" {
				t.Errorf("the server sees a call: %q", got)
			}
		}
	})
}

// FuzzFromServer: what reaches the client is what came, or a message of our own; and an answer to a call that is held never does.
func FuzzFromServer(f *testing.F) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required"}}`, `{"jsonrpc":"2.0","id":1.0,"id":2,"result":{}}`, `[]`, `{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{}}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') {
			return
		}
		b := newBench(t)
		_, held := context.WithCancel(t.Context())
		b.pending[&request{id: []byte("1"), key: "n1", method: "tools/call", drop: held}] = true
		b.pending[&request{id: []byte("2"), key: "n2", method: "tools/call", tool: "mcp__fs__a", same: "x"}] = true
		if err := b.fromServer(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		if got := b.toClient.text(); got != "" && got != string(line)+"\n" && !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,"error":`) {
			t.Errorf("%q became %q", line, got)
		}
		if b.find("n1") == nil {
			t.Errorf("the server has answered a call that is held: %q", line)
		}
	})
}

// slowOutlet takes its first message only once it may.
type slowOutlet struct {
	sender

	first      sync.Once
	begun, may chan struct{}
}

func (s *slowOutlet) send(text []byte) error {
	slow := false
	s.first.Do(func() { slow = true })
	if slow {
		close(s.begun)
		<-s.may
	}
	return s.sender.send(text)
}

// TestACancellationDoesNotOvertakeItsCall: a server that gets it first would ignore it, and run the call.
func TestACancellationDoesNotOvertakeItsCall(t *testing.T) {
	b := newBench(t)
	b.allows()
	slow := &slowOutlet{sender: sender{w: b.server}, begun: make(chan struct{}), may: make(chan struct{})}
	b.pipe.server = slow
	b.client(aCall)
	<-slow.begun // the call is on its way
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		b.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}()
	for range 1000 { // time enough to overtake it
		runtime.Gosched()
	}
	close(slow.may)
	<-cancelled
	if text := b.server.wait(t, "cancelled"); !strings.HasPrefix(text, aCall) {
		t.Errorf("the server got %q", text)
	}
}

func TestARefusedLineIsAnsweredByItsID(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"w","arguments":{"t":"\ud83d"}}}`:  `"id":9,`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"w","arguments":{"a":1,"a":2}}}`: `"id":"a",`,
		`{"jsonrpc":"2.0","id":9,"id":8,"method":"tools/call","params":{"name":"w"}}`:                      `"id":null,`,
		`{"jsonrpc":"2.0","id":9,"ID":8,"method":"tools/call","params":{"name":"w"}}`:                      `"id":null,`,
		`[{"jsonrpc":"2.0","id":9,"method":"ping"}]`:                                                       `"id":null,`,
		`{"jsonrpc":"2.0","params":{"id":9},"method":"ping","method":"ping"}`:                              `"id":null,`,
	} {
		b := newBench(t)
		if b.client(line); !strings.Contains(b.toClient.text(), want) || b.server.text() != "" {
			t.Errorf("%s is answered with %s", line, b.toClient.text())
		}
	}
}

// TestHintsAreThoseThatAreKept: a client may know a tool from a list that this gate has not seen, or spell it otherwise.
func TestHintsAreThoseThatAreKept(t *testing.T) {
	b := newBench(t)
	b.client(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"drop","annotations":{"destructiveHint":true,"title":"x"}}]}}`)
	other := newBench(t)
	other.Definitions = b.Definitions
	got := make(chan string, 1)
	other.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		got <- string(c.Annotations)
		return hook.Verdict{}, nil
	}
	other.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Drop"}}`)
	if hints := <-got; hints != `{"destructiveHint":true}` {
		t.Errorf("told was %s", hints)
	}
}
