package server_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
)

func relaying(t testing.TB) (*server.Server, *hearing) {
	t.Helper()
	desk := &hearing{}
	s, _ := newServer(t, func(o *server.Options) {
		o.Desk, o.Now = desk, noon
		o.Relays = func(client, platform string) bool { return client == "laptop" && platform == "telegram" }
	})
	return s, desk
}

// saying is a desk that answers as the vectors tell.
type saying struct {
	noApprovers
	text string
}

func (s saying) Answer(context.Context, approval.Answer) (approval.Outcome, error) {
	return approval.Outcome{Kind: approval.Counted, Text: s.text}, nil
}

func TestTheDocumentedVectorsForApproveHold(t *testing.T) {
	text, err := os.ReadFile("../docs/spec/event-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Name, Path, Body, Signature, Answer, AnswerSignature string
	}
	var v struct {
		Secret            string
		Events, Malformed []vector
	}
	if err := json.Unmarshal(text, &v, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	auth, err := server.NewAuth(map[string][]string{"default": {v.Secret}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newServer(t, func(o *server.Options) {
		o.Auth, o.Desk = func() *server.Auth { return auth }, saying{text: `"exec" approved for 30 minutes by Ann (telegram through default).`}
		o.Relays = func(client, platform string) bool { return client == "default" && platform == "telegram" }
		o.Now = func() time.Time { return time.Date(2026, 2, 12, 15, 30, 0, 0, time.UTC) }
	})
	tried := 0
	for _, e := range append(v.Events, v.Malformed...) {
		if e.Path != "/approve" {
			continue
		}
		tried++
		if e.Signature == "" {
			e.Signature = hmac.Sign([]byte(v.Secret), []byte(e.Body))
		}
		w := tell(s, e.Path, e.Body, hmac.RequestHeader, e.Signature)
		switch got := w.Body.String(); {
		case e.Answer == "" && !strings.HasPrefix(got, `{"kind":"misunderstood",`), e.Answer != "" && got != e.Answer:
			t.Errorf("%s: got %s, want %s", e.Name, got, e.Answer)
		case e.AnswerSignature != "" && w.Header().Get(hmac.AnswerHeader) != e.AnswerSignature:
			t.Errorf("%s: another signature", e.Name)
		}
	}
	if tried < 3 {
		t.Error("the file has lost its vectors")
	}
}

func typed(text, context string) string {
	quoted, _ := json.Marshal(text)
	return `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r","text":` + string(quoted) + `,"context":` + context + `}`
}

const annsChat = `{"messageProvider":"telegram","senderId":"111","sessionKey":"agent:main:main"}`

func TestARelayedLineReachesTheDeskWithItsSender(t *testing.T) {
	s, desk := relaying(t)
	body := typed(".pending", annsChat)
	w := tell(s, "/approve", body, signed(body)...)
	if w.Code != http.StatusOK || w.Body.String() != `{"kind":"told","text":"heard"}` || !hmac.MatchAnswer([]byte(secret), "r", w.Body.Bytes(), w.Header().Get(hmac.AnswerHeader)) {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	if len(desk.heard) != 1 || desk.heard[0].ID != "telegram:111" || desk.heard[0].Carrier == nil || desk.heard[0].Carrier.Conversation.Client != "laptop" {
		t.Errorf("the desk heard %+v", desk.heard)
	}
}

func TestWithoutASwitchNobodyIsBelieved(t *testing.T) {
	desk := &hearing{}
	s, _ := newServer(t, func(o *server.Options) { o.Desk, o.Now = desk, noon })
	body := typed(".pending", annsChat)
	if w := tell(s, "/approve", body, signed(body)...); !strings.Contains(w.Body.String(), `"kind":"unauthorised"`) || len(desk.heard) != 0 {
		t.Errorf("got %s", w.Body)
	}
	if w := tell(s, "/approve", body); w.Code != http.StatusUnauthorized {
		t.Errorf("unsigned: %d", w.Code)
	}
}

// Whatever is sent, the desk hears only of the one sender that is believed, and
// never of a line without a carrier.
func FuzzRelay(f *testing.F) {
	for _, ctx := range []string{annsChat, `{}`, `{"messageProvider":"telegram","senderId":"111","groupId":"-1"}`, `{"messageProvider":"telegram","senderId":"111","inputProvenance":{"kind":"inter_session"}}`} {
		f.Add(typed(".approve exec bf619df9", ctx))
	}
	f.Add(`{"version":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, desk := relaying(t)
		w := tell(s, "/approve", body, signed(body)...)
		var answer struct{ Kind, Text string }
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &answer, json.MatchCaseInsensitiveNames(true)) != nil || answer.Kind == "" || answer.Text == "" {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		for _, a := range desk.heard {
			if a.Carrier == nil || a.Text == "" || !strings.HasPrefix(a.ID, "telegram:") || a.ID == "telegram:" {
				t.Fatalf("the desk heard %+v", a)
			}
		}
	})
}
