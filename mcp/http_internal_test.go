package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// web is a gate before a server that is reached by an address.
type web struct {
	t       *testing.T
	url     string
	session *says
	gate    *front

	mu  sync.Mutex
	got []string
}

func newWeb(t *testing.T, serve http.HandlerFunc) *web {
	t.Helper()
	b := &web{t: t, session: &says{}}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		b.got = append(b.got, fmt.Sprint(q.Header)+string(text))
		b.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		serve(w, q)
	}))
	t.Cleanup(up.Close)
	u, err := url.Parse(up.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Server: "fs", Definitions: Definitions{t.TempDir()}, Open: func() (Session, error) { return b.session, nil }, Log: io.Discard}
	d, err := readTool([]byte(`{"name":"send","inputSchema":{"properties":{"to_whom":{"x-mcp-header":"To"},"to":{}}}}`))
	if _, err2 := o.Definitions.see("fs", &d); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	b.gate = HTTP(o, u, Reached{Host: func(string) bool { return true }}).(*front) //nolint:errcheck // it is one
	front := httptest.NewServer(b.gate)
	t.Cleanup(front.Close)
	b.url = front.URL + "/mcp"
	return b
}

func (b *web) post(body string, headers ...string) (status int, text string) {
	q, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url, strings.NewReader(body))
	if err != nil {
		b.t.Error(err)
		return 0, ""
	}
	q.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		q.Header[headers[i]] = append(q.Header[headers[i]], headers[i+1])
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		b.t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Error(err)
	}
	return res.StatusCode, string(all)
}

func (b *web) saw() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.got, "\n")
}

// TestClientsWithoutASessionAreToldApart: one cancels its own calls only, and a call that is cancelled ends in words.
func TestClientsWithoutASessionAreToldApart(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`) //nolint:errcheck // the test misses it then
	})
	held := make(chan struct{})
	b.session.ask = func(ctx context.Context, _ hook.Call) (hook.Verdict, error) {
		close(held)
		<-ctx.Done()
		return hook.Verdict{}, ctx.Err()
	}
	answer := make(chan string, 1)
	go func() {
		_, text := b.post(aCall, "X-Api-Key", "a", "X-Request-Id", "1", "Mcp-Method", "tools/call")
		answer <- text
	}()
	<-held
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for _, headers := range [][]string{nil, {"X-Api-Key", "b"}, {"Cookie", "x=1"}, {"X-Api-Key", "a", "Cookie", "x=1"}} {
		b.post(cancel, headers...)
	}
	select {
	case text := <-answer:
		t.Fatalf("another client has cancelled the call: %s", text)
	default:
	}
	if n := strings.Count(b.saw(), "notifications/cancelled"); n != 4 { // what is not known here may be known there
		t.Errorf("the server got %d cancellations", n)
	}
	b.post(cancel, "X-Api-Key", "a", "X-Request-Id", "2")
	if text := <-answer; !strings.Contains(text, "was cancelled") || !strings.Contains(text, "Nothing was run") {
		t.Errorf("the client got %q", text)
	}
}

// TestOverHTTPACallThatTheOwnerChangedIsPassedWithTheOwnersArguments: in the message and in the headers that repeat them, and nothing of the client's own.
func TestOverHTTPACallThatTheOwnerChangedIsPassedWithTheOwnersArguments(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`) //nolint:errcheck // the test misses it then
	})
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		return hook.Verdict{Allowed: c.Edits, Params: jsontext.Value(`{"to_whom":"bob","n":2}`)}, nil
	}
	status, text := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"to_whom":"mallory","secret":"x"},"_meta":{"progressToken":7}}}`,
		"Mcp-Method", "tools/call", "Mcp-Name", "send", "Mcp-Param-To", "mallory", "Mcp-Param-Secret", "x")
	if status != http.StatusOK || !strings.Contains(text, `"content":[]`) {
		t.Errorf("the client got %d %s", status, text)
	}
	got := b.saw()
	if !strings.Contains(got, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7},"arguments":{"to_whom":"bob","n":2},"name":"send"}}`) {
		t.Errorf("the server got %s", got)
	}
	if !strings.Contains(got, "Mcp-Param-To:[=?base64?Ym9i?=]") || strings.Contains(got, "mallory") || strings.Contains(got, "Mcp-Param-Secret") {
		t.Errorf("the headers are %s", got)
	}
}

// TestH572OverHTTPAnEditThatCantBePassedOnRunsNothing: a retry that answers a server's question, and an answer that is no object.
func TestH572OverHTTPAnEditThatCantBePassedOnRunsNothing(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"roots/list"}}}}`) //nolint:errcheck // the test misses it then
	})
	edits := make(chan bool, 10)
	params := jsontext.Value(`{"to":"bob"}`)
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		edits <- c.Edits
		return hook.Verdict{Allowed: true, Params: params, Asked: &hook.Asked{}}, nil
	}
	b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"to":"mallory"}}}`)
	if !<-edits || strings.Contains(b.saw(), "mallory") {
		t.Fatalf("the first call: %s", b.saw())
	}
	_, text := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"to":"mallory"},"requestState":"s","inputResponses":{"a":{"roots":[]}}}}`)
	select {
	case takes := <-edits:
		if takes {
			t.Error("a retry with an answer says that its arguments can be changed")
		}
	default: // it was refused before
	}
	params = jsontext.Value(`{"to":"bob"`)
	_, broken := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"to":"mallory"}}}`)
	if !strings.Contains(broken, "Nothing was run") || strings.Contains(b.saw(), "mallory") {
		t.Errorf("the client got %s and %s, the server %s", text, broken, b.saw())
	}
}

// TestListenersHearOfWhatTheGateSays: a client that listens hears of a tool that is back, for as long as it listens.
func TestListenersHearOfWhatTheGateSays(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush() //nolint:errcheck // the test misses it then
		<-q.Context().Done()
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	listening := func(n int) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for range 3000 {
			b.gate.mu.Lock()
			now := len(b.gate.listening)
			b.gate.mu.Unlock()
			if now == n {
				return
			}
			<-tick.C
		}
		t.Fatalf("there are never %d that listen", n)
	}
	listening(1)
	b.gate.accepted(Instructions) // it has nothing to say of a list
	b.gate.accepted("pay")
	got, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || got != "data: "+listChanged+"\n" {
		t.Errorf("the client heard %q, %v", got, err)
	}
	stop()
	listening(0)
	b.gate.accepted("pay") // there is no client to write to
}

// TestACallIsEndedInWordsWhenItsServerIsGone: the client could take the stream up again, and the server has died.
func TestACallIsEndedInWordsWhenItsServerIsGone(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n") //nolint:errcheck // the test misses it then
	})
	b.session.ask = func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{Allowed: true}, nil }
	from := []string{"Mcp-Session-Id", "s", "Accept", "application/json, text/event-stream"}
	if _, text := b.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, from...); strings.Contains(text, `"id":7`) {
		t.Fatalf("the call is answered: %s", text)
	}
	for _, want := range []string{`"id":7,"result":{"content":[{"type":"text","text":"The server of tools ended before it had answered. The call may have run."`, "can't be reached"} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header = http.Header{"Mcp-Session-Id": {"s"}, "Accept": {"text/event-stream"}, "Last-Event-Id": {"1"}}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("got %d %s, %v", res.StatusCode, text, err)
		}
	}
}

// TestAnErrorForTheServerHasItsOwnHeaders: what the server asks for can't be noted, so it gets an error. The headers of the
// client's call are not about that message.
func TestAnErrorForTheServerHasItsOwnHeaders(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Mcp-Method") == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n") //nolint:errcheck // the test misses it then
	})
	b.session.ask = func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{Allowed: true}, nil }
	b.session.lost = io.ErrClosedPipe
	b.post(aCall, "Accept", "text/event-stream", "Mcp-Method", "tools/call", "X-Api-Key", "k")
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.got) != 2 || !strings.Contains(b.got[1], `"id":7,"error"`) || strings.Contains(b.got[1], "Mcp-Method") || !strings.Contains(b.got[1], "X-Api-Key") {
		t.Errorf("the server got %q", b.got)
	}
}

// TestOverHTTPWhatIsOpenHasALimit, before one server and before several. A client that only listens is not the one that goes.
func TestOverHTTPWhatIsOpenHasALimit(t *testing.T) {
	by := Reached{Host: func(string) bool { return true }}
	one := HTTP(Options{Log: io.Discard}, &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: ManyPath}, by).(*front) //nolint:errcheck // it is one
	h, _ := ManyHTTP(t.Context(), Options{Log: io.Discard}, nil, by)
	several := h.(*sessions) //nolint:errcheck // it is one
	one.busy.Store(mostRequests)
	several.busy.Store(mostRequests)
	for _, h := range []http.Handler{one, several} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, ManyPath, strings.NewReader(aCall))); w.Code != http.StatusServiceUnavailable {
			t.Errorf("got the status %d", w.Code)
		}
	}
	over := make(chan string, 2)
	for _, s := range []struct {
		id     string
		since  time.Duration
		stream *answer
	}{{"listens", 3 * time.Hour, &answer{}}, {"idle", 2 * time.Hour, nil}, {"new", time.Hour, nil}} {
		several.all[s.id] = &session{end: func() { over <- s.id }, stream: s.stream, used: time.Now().Add(-s.since)}
	}
	if !several.forget() || <-over != "idle" {
		t.Error("another session than the idle one was ended")
	}
}

// TestAHeaderSaysWhatItsArgumentSays: not what another one says.
func TestAHeaderSaysWhatItsArgumentSays(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`) //nolint:errcheck // the test misses it then
	})
	b.session.ask = func(context.Context, hook.Call) (hook.Verdict, error) { return hook.Verdict{Allowed: true}, nil }
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	}
	for _, c := range []struct {
		body, header, value string
		want                int
	}{
		{call("pay", `{"to":"ann","note":"eve"}`), "Mcp-Param-To", "eve", 400},
		{call("pay", `{"to":"ann","note":"eve"}`), "Mcp-Param-To", "ann", 200},
		{call("pay", `{"to":"ann","TO":"eve"}`), "Mcp-Param-To", "ann", 400},
		{call("pay", `{"to":{"a":"ann"}}`), "Mcp-Param-To", "ann", 400},
		{call("pay", `{"n":12}`), "Mcp-Param-N", "12", 200},
		{call("pay", `{"to":"ann"}`), "Mcp-Param-To", "=?base64?YW5u?=", 200},
		{call("pay", `{"to":"ann"}`), "Mcp-Param-To", "=?base64?YW5u", 400},
		{call("pay", `{"to":"ann"}`), "Mcp-Param-To", "=?base64?YW5u=?=", 400},
		{call("pay", `{"to":"=?base64?YW5u"}`), "Mcp-Param-To", "=?base64?YW5u", 200},
		{call("pay", `{"n":12}`), "Mcp-Param-M", "12", 400},
		{call("send", `{"to":"eve","to_whom":"ann"}`), "Mcp-Param-To", "eve", 400},
		{call("send", `{"to":"eve","to_whom":"ann"}`), "Mcp-Param-To", "ann", 200},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"name":"a","uri":"file:///b"}}`, "Mcp-Name", "a", 400},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"name":"a","uri":"file:///b"}}`, "Mcp-Name", "file:///b", 200},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","uri":"b"}}`, "Mcp-Name", "b", 400},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"name":"a"}}`, "Mcp-Name", "a", 400},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp_method", "tools/call", 200},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "X_http_method_override", "DELETE", 200},
	} {
		if status, text := b.post(c.body, c.header, c.value); status != c.want {
			t.Errorf("%s with %s: %s is answered with %d %s", c.body, c.header, c.value, status, text)
		}
	}
	if saw := strings.ToLower(b.saw()); strings.Contains(saw, "mcp_method") || strings.Contains(saw, "x_http") {
		t.Errorf("the server got %s", saw)
	}
	h := unmirrored(http.Header{"Mcp-Method": {"a"}, "Mcp-Name": {"b"}, "Mcp-Param-X": {"c"}, "Mcp-Session-Id": {"d"}})
	if len(h) != 1 || h.Get("Mcp-Session-Id") != "d" {
		t.Errorf("another message goes with %v", h)
	}
}

// TestARetryIsOfTheClientThatMadeTheCall: one client's yes is not another's, and text in an answer is judged.
func TestARetryIsOfTheClientThatMadeTheCall(t *testing.T) {
	b := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}`) //nolint:errcheck // the test misses it then
	})
	var judged []string
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		judged = append(judged, fmt.Sprint(c.Again != nil, string(c.Params)))
		return hook.Verdict{Allowed: true, Asked: &hook.Asked{}}, nil
	}
	retry := func(responses string) string {
		return strings.Replace(aCall, `"name"`, `"inputResponses":`+responses+`,"name"`, 1)
	}
	const yes = `{"a":{"action":"accept"}}`
	one, other := []string{"Authorization", "Bearer A"}, []string{"Authorization", "Bearer B"}
	for _, c := range []struct {
		body    string
		headers []string
		want    string // what is judged; "": it is refused
	}{
		{retry(yes), one, ""},
		{aCall, one, `false{"path":"a"}`},
		{retry(yes), other, ""},
		{retry(yes), []string{"Authorization", "Bearer A", "X-Api-Key", "b"}, ""},
		{retry(yes), []string{"Authorization", "Bearer A", "Mcp-Session-Id", "s"}, ""},
		{retry(yes), one, `true{"path":"a"}`},
		{retry(`{"a":{"action":"accept","content":{"t":"x"}}}`), one, `false{"inputResponses":{"a":{"action":"accept","content":{"t":"x"}}},"path":"a"}`},
		{retry(`{"x":{"action":"accept"}}`), one, `false{"inputResponses":{"x":{"action":"accept"}},"path":"a"}`},
		{retry(`"text"`), one, `false{"inputResponses":"text","path":"a"}`},
		{strings.Replace(aCall, `"name"`, `"requestState":"text","name"`, 1), one, ""},
		{strings.Replace(aCall, `"name"`, `"task":{"ttl":1,"x":"text"},"name"`, 1), one, ""},
		{strings.Replace(aCall, `"name"`, `"_meta":{"x":"`+strings.Repeat("x", longestMeta)+`"},"name"`, 1), one, ""},
	} {
		_, text := b.post(c.body, c.headers...)
		b.mu.Lock()
		got := strings.Join(judged, " ")
		judged = nil
		b.mu.Unlock()
		if got != c.want || (c.want == "") != !strings.Contains(text, "input_required") {
			t.Errorf("%.200s with %q: judged was %q, want %q; the client got %s", c.body, c.headers, got, c.want, text)
		}
	}
}
