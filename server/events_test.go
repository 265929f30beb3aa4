package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// hears takes in whatever reaches it.
type hears struct{}

func (hears) Hear(_ context.Context, e *loop.Event) loop.Answer {
	if e.Name == loop.AgentEnd {
		panic("boom")
	}
	return loop.Answer{Accepted: true}
}

func (hears) Notice(context.Context, *toolcall.Call) loop.Answer { return loop.Answer{Accepted: true} }

func (hears) Graph(_ context.Context, name string) (*provenance.Graph, error) {
	switch name {
	case "turn":
		facts := []provenance.Fact{{What: provenance.Called, Tool: "</text><script>alert(1)</script>\x1b[2J", Allowed: true}}
		return provenance.Build(name, facts), nil
	case "broken":
		return nil, errors.New("store: out of order")
	}
	return nil, turns.ErrUnknown
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
