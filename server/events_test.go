package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/server"
)

// hears takes in whatever reaches it.
type hears struct{}

func (hears) Hear(_ context.Context, e *protocol.Event) protocol.Answer {
	if e.Name == protocol.AgentEnd {
		panic("boom")
	}
	return protocol.Answer{Accepted: true}
}

func (hears) Notice(context.Context, *protocol.Call) protocol.Answer {
	return protocol.Answer{Accepted: true}
}

// draws gives a graph with what a tool may call itself.
func draws(_ context.Context, name string) (*provenance.Graph, error) {
	switch name {
	case "turn":
		return &provenance.Graph{Nodes: []provenance.Node{
			{Kind: "policy_decision", Blocked: true, BlockReason: "</text><script>alert(1)</script>\x1b[2J"},
		}}, nil
	case "broken":
		return nil, errors.New("the record can't be read")
	}
	return nil, provenance.ErrUnknown
}

func noon() time.Time { return time.Date(2026, 2, 12, 12, 0, 0, 0, time.UTC) }

func tell(s *server.Server, path, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return w
}
