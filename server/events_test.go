package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
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

func TestTheDocumentedEventVectorsHold(t *testing.T) {
	text, err := os.ReadFile("../docs/spec/event-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Secret string `json:"secret"`
		Events []struct {
			Name            string `json:"name"`
			RequestID       string `json:"requestId"`
			Body            string `json:"body"`
			Signature       string `json:"signature"`
			Answer          string `json:"answer"`
			AnswerSignature string `json:"answerSignature"`
		} `json:"events"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for _, e := range v.Events {
		if hmac.Match(e.Signature, []byte(e.Body), []byte(v.Secret)) != 0 || !hmac.MatchAnswer([]byte(v.Secret), e.RequestID, []byte(e.Answer), e.AnswerSignature) {
			t.Errorf("%s: a signature is wrong", e.Name)
		}
		var a loop.Answer
		if err := json.Unmarshal([]byte(e.Answer), &a); err == nil && strings.HasPrefix(e.Answer, `{"accepted"`) && string(a.JSON()) != e.Answer {
			t.Errorf("%s: we would write %s", e.Name, a.JSON())
		}
	}
	if len(v.Events) < 20 {
		t.Error("the file has lost its vectors")
	}
}

func TestAnEventIsAnsweredUnderTheRulesOfACall(t *testing.T) {
	s, d := newServer(t, func(o *server.Options) { o.Path, o.Loop, o.Turns = "/gate/verify", hears{}, hears{} })
	body := `{"version":1}`
	if w := tell(s, "/gate/hooks/agent_end", body); w.Code != http.StatusUnauthorized || s.Rejected() != 1 {
		t.Errorf("no signature: %d", w.Code)
	}
	w := tell(s, "/gate/hooks/before_llm_call", body, signed(body)...)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"accepted":false`) || !strings.Contains(w.Body.String(), `"block":true`) || w.Header().Get(hmac.AnswerHeader) == "" {
		t.Errorf("malformed: %d %s", w.Code, w.Body)
	}
	w = tell(s, "/gate/hooks/before_tool_call", body, signed(body)...)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"decision":"deny"`) || d.rejected.Load() != 1 {
		t.Errorf("a malformed call: %d %s", w.Code, w.Body)
	}
	if w := tell(s, "/hooks/agent_end", body, signed(body)...); w.Code != 404 {
		t.Errorf("elsewhere: %d", w.Code)
	}
}

func TestAPanicRefusesAnEvent(t *testing.T) {
	s, _ := newServer(t, func(o *server.Options) { o.Loop, o.Turns, o.Now = hears{}, hears{}, noon })
	body := `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","event":{}}`
	if w := tell(s, "/hooks/agent_end", body, signed(body)...); w.Code != 200 || !strings.Contains(w.Body.String(), `"accepted":false`) || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if w := tell(s, "/hooks/session_start", body, signed(body)...); w.Code != 200 || w.Body.String() != `{"accepted":true}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func look(s *server.Server, path string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return w
}

func TestOnlyTheOwnerLooksAtATurn(t *testing.T) {
	s, _ := newServer(t, func(o *server.Options) { o.Loop, o.Turns = hears{}, hears{} })
	for _, headers := range [][]string{nil, signed(""), {"Authorization", "Bearer wrong"}} {
		if w := look(s, "/api/graphs/turn", headers...); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "nodes") {
			t.Errorf("%q: %d %s", headers, w.Code, w.Body)
		}
	}
	for path, want := range map[string]struct {
		status int
		kind   string
		text   string
	}{
		"/api/graphs/turn":             {200, "application/json", `"kind": "tool_call"`},
		"/api/graphs/turn?format=json": {200, "application/json", `"kind": "tool_call"`},
		"/api/graphs/turn?format=text": {200, "text/plain", "tool: </text><script>"},
		"/api/graphs/turn?format=html": {422, "application/json", "must be json or text"},
		"/api/graphs/nobody":           {404, "application/json", "No turn is remembered"},
		"/api/graphs/broken":           {503, "application/json", "Try again"},
	} {
		w := look(s, path, "Authorization", "Bearer "+ann)
		if h := w.Header(); w.Code != want.status || !strings.HasPrefix(h.Get("Content-Type"), want.kind) || !strings.Contains(w.Body.String(), want.text) ||
			h.Get("Cache-Control") != "no-store" || want.status == 200 && (h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "") {
			t.Errorf("%s: %d %v %s", path, w.Code, h, w.Body)
		}
		if body := w.Body.String(); strings.Contains(body, "\x1b") {
			t.Errorf("%s: %s", path, body)
		}
	}
}
