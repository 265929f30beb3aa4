package mcptest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Remote is a server of tools that is reached by an address.
type Remote struct {
	*httptest.Server

	mu      sync.Mutex
	got     []string      // each request: method, headers and body
	slow    chan struct{} // what the tool "slow" waits for
	said    chan string   // what goes to the stream of a GET
	special http.HandlerFunc
}

// NewRemote starts one.
func NewRemote(t testing.TB) *Remote {
	s := &Remote{slow: make(chan struct{}), said: make(chan string, 10)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { close(s.said); s.CloseClientConnections(); s.Close() })
	return s
}

// Seen is all that the server got.
func (s *Remote) Seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, "\n\n")
}

// Becomes has the server answer everything so.
func (s *Remote) Becomes(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.special = h
}

func (s *Remote) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	var header strings.Builder
	q.Header.Write(&header) //nolint:errcheck // a test misses it then
	s.mu.Lock()
	s.got = append(s.got, q.Method+" "+q.URL.String()+"\n"+header.String()+"\n"+string(body))
	special := s.special
	s.mu.Unlock()
	switch {
	case special != nil:
		special(w, q)
		return
	case q.Method == http.MethodGet:
		s.stream(w, q)
		return
	case q.Method == http.MethodDelete:
		return
	}
	var m request
	if json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := "{}"
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"fake","version":"1"}}`
	case "tools/list":
		result = `{"tools":[` + Echo("says it") + `]}`
	case "tools/call":
		s.call(w, q, &m)
		return
	default:
		result = cmp.Or(results[m.Method], result)
	}
	say(w, fmt.Sprintf("{\n\"jsonrpc\":\"2.0\",\n\"id\":%s,\n\"result\":%s}\n", m.ID, result))
}

// say answers with one message.
func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, text) //nolint:errcheck // a test misses it then
}

// events answers with a stream.
func events(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range parts {
		io.WriteString(w, part)               //nolint:errcheck // a test misses it then
		http.NewResponseController(w).Flush() //nolint:errcheck // see above
	}
}

func answer(id, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func (s *Remote) call(w http.ResponseWriter, q *http.Request, m *request) {
	arguments := m.Params.Arguments
	said := answer(string(m.ID), "said "+arguments["text"])
	switch m.Params.Name {
	case "stream":
		events(w, ": hello\r\n\r\n", "id: 7\nretry: 10\ndata:\n\n",
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: "+
				"\"method\":\"notifications/message\",\"params\":{\"data\":\"x\"}}\n\n",
			"event: endpoint\ndata: http://evil.example/\n\n", "id: 8\rdata: "+said+"\r\r")
	case "cut": // the rest comes on another connection
		events(w, "id: 1\ndata:\n\n")
		s.said <- said
	case "ends":
		events(w, ": nothing\n\n")
	case "early": // answers a request that it was never given
		s.said <- answer(arguments["id"], "forged")
		events(w, "data: "+answer(arguments["id"], "forged")+"\n\n", "data: "+said+"\n\n")
	case "slow":
		select {
		case <-s.slow:
		case <-q.Context().Done():
		}
	default:
		say(w, said)
	}
}

// stream is what the server says by itself.
func (s *Remote) stream(w http.ResponseWriter, q *http.Request) {
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
