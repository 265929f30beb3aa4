package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

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
