package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
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
	text, err := os.ReadFile("../docs/event-vectors.json")
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
	s, d := newServer(t, func(o *server.Options) { o.Path, o.Loop = "/gate/verify", hears{} })
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
	s, _ := newServer(t, func(o *server.Options) { o.Loop, o.Now = hears{}, noon })
	body := `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","event":{}}`
	if w := tell(s, "/hooks/agent_end", body, signed(body)...); w.Code != 200 || !strings.Contains(w.Body.String(), `"accepted":false`) || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if w := tell(s, "/hooks/session_start", body, signed(body)...); w.Code != 200 || w.Body.String() != `{"accepted":true}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
