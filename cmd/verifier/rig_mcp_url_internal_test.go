package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

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

// reaching starts the gate before such a server, with a gateway that has the default config.
func reaching(r *rig, s *remote, args ...string) *gate {
	r.t.Helper()
	return gatedBy(r, func(string) []string {
		return append([]string{"--name", "fake", "--url", s.URL + "/mcp?key=1"}, args...)
	})
}
