package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// remote is a server of tools that is reached by an address.
type remote struct {
	*httptest.Server
	mu      sync.Mutex
	got     []string      // each request: method, headers and body
	slow    chan struct{} // what the tool "slow" waits for
	said    chan string   // what goes to the stream of a GET
	tools   string
	special http.HandlerFunc // in place of everything else
}

func newRemote(r *rig) *remote {
	s := &remote{slow: make(chan struct{}), said: make(chan string, 10), tools: `{"name":"echo","description":"says it","inputSchema":{"type":"object"}}`}
	s.Server = httptest.NewServer(s)
	r.t.Cleanup(func() { close(s.said); s.CloseClientConnections(); s.Close() })
	return s
}

func (s *remote) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	var header strings.Builder
	q.Header.Write(&header) //nolint:errcheck // a test misses it then
	s.mu.Lock()
	s.got = append(s.got, q.Method+" "+q.URL.String()+"\n"+header.String()+"\n"+string(body))
	special := s.special
	s.mu.Unlock()
	if special != nil {
		special(w, q)
		return
	}
	switch q.Method {
	case http.MethodGet:
		s.stream(w, q)
		return
	case http.MethodDelete:
		return
	}
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params struct {
			Name      string            `json:"name"`
			Arguments map[string]string `json:"arguments"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := "{}"
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`
	case "tools/list":
		s.mu.Lock()
		result = `{"tools":[` + s.tools + `]}`
		s.mu.Unlock()
	case "tools/call":
		s.call(w, q, m.ID, m.Params.Name, m.Params.Arguments)
		return
	default:
		result = cmp.Or(fakeResults[m.Method], result)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\n\"jsonrpc\":\"2.0\",\n\"id\":%s,\n\"result\":%s}\n", m.ID, result) //nolint:errcheck // a test misses it then
}

func (s *remote) call(w http.ResponseWriter, q *http.Request, id jsontext.Value, tool string, arguments map[string]string) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, "said "+arguments["text"])
	events := func(parts ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range parts {
			io.WriteString(w, part)               //nolint:errcheck // a test misses it then
			http.NewResponseController(w).Flush() //nolint:errcheck // see above
		}
	}
	switch tool {
	case "stream":
		events(": hello\r\n\r\n", "id: 7\nretry: 10\ndata:\n\n", "event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/message\",\"params\":{\"data\":\"x\"}}\n\n",
			"event: endpoint\ndata: http://evil.example/\n\n", "id: 8\rdata: "+answer+"\r\r")
	case "cut": // the rest comes on another connection
		events("id: 1\ndata:\n\n")
		s.said <- answer
	case "ends":
		events(": nothing\n\n")
	case "early": // answers a request that it was never given
		s.said <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"forged"}]}}`, arguments["id"])
		events("data: "+strings.Replace(answer, `"id":`+string(id), `"id":`+arguments["id"], 1)+"\n\n", "data: "+answer+"\n\n")
	case "more":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"who?"}}},"requestState":"s1"}}`, id) //nolint:errcheck // see above
	case "slow":
		select {
		case <-s.slow:
		case <-q.Context().Done():
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer) //nolint:errcheck // see above
	}
}

// stream is what the server says by itself.
func (s *remote) stream(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		http.NewResponseController(w).Flush() //nolint:errcheck // a test misses it then
		select {
		case text := <-s.said:
			fmt.Fprintf(w, "data: %s\n\n", text) //nolint:errcheck // see above
		case <-q.Context().Done():
			return
		}
	}
}

// saw is all that the server got.
func (s *remote) saw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, "\n\n")
}

func (s *remote) becomes(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.special = h
}

// httpGate is `verifier mcp --listen` in a process of its own before such a server.
type httpGate struct {
	*rig
	server *remote
	url    string
	cmd    *exec.Cmd
	err    *output
	done   chan struct{}
	id     int
	header http.Header // of each request
}

// fronted starts the gate with a gateway that has the default config.
func fronted(r *rig, args ...string) *httpGate {
	r.t.Helper()
	s := newRemote(r)
	return frontedBy(r, s, append([]string{"--name", "fake", "--url", s.URL + "/mcp?key=1", "--listen", "127.0.0.1:0"}, args...)...)
}

// frontedBy starts the gate with these flags.
func frontedBy(r *rig, s *remote, flags ...string) *httpGate {
	r.t.Helper()
	dir := r.t.TempDir()
	secret := filepath.Join(dir, "secret")
	own, err := os.Executable()
	if err == nil {
		err = os.WriteFile(secret, []byte(r.secret), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	g := &httpGate{rig: r, server: s, err: &output{}, done: make(chan struct{}), header: http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}}
	g.cmd = exec.CommandContext(context.Background(), own)
	g.cmd.Args = append([]string{"verifier", "mcp", "--gateway", r.url, "--secret-file", secret, "--notes", filepath.Join(dir, "notes")}, flags...)
	g.cmd.Env, g.cmd.Stderr = append(os.Environ(), "MCP_SEEN="+filepath.Join(dir, "seen")), g.err
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.t.Fatalf("%v: %s", err, g.err)
	}
	g.url = strings.TrimSpace(strings.TrimPrefix(line, "The gate listens on "))
	go func() { defer close(g.done); _ = g.cmd.Wait() }()
	r.t.Cleanup(func() { g.cmd.Process.Signal(syscall.SIGTERM); <-g.done }) //nolint:errcheck // it may have ended
	return g
}

// said is what a client gets for a request.
type said struct {
	status int
	header http.Header
	text   string
}

// do makes a request, with headers beside the usual ones.
func (g *httpGate) do(ctx context.Context, method, body string, headers ...string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, g.url, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	q.Header = g.header.Clone()
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			q.Host = headers[i+1]
			continue
		}
		q.Header.Add(headers[i], headers[i+1])
	}
	return http.DefaultTransport.RoundTrip(q)
}

// post sends a message and waits for all of the answer.
func (g *httpGate) post(body string, headers ...string) said {
	g.t.Helper()
	res, err := g.do(g.t.Context(), http.MethodPost, body, headers...)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return said{res.StatusCode, res.Header, string(text)}
}

// posting sends a message; its answer comes later.
func (g *httpGate) posting(body string, headers ...string) <-chan said {
	out := make(chan said, 1)
	go func() { out <- g.post(body, headers...) }()
	return out
}

// calls is a call of a tool, with an id of its own.
func (g *httpGate) calls(tool, arguments string) string {
	g.id++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, g.id, tool, arguments)
}

func (g *httpGate) wants(a said, words ...string) {
	g.t.Helper()
	for _, word := range words {
		if !strings.Contains(a.text, word) {
			g.t.Errorf("got %d %s, want %q\n%s", a.status, a.text, word, g.err)
		}
	}
}

// allowOnce says yes to the one question that there is.
func (g *httpGate) allowOnce() {
	g.t.Helper()
	g.approve(g.waits().Ref, 0)
}
