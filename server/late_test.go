package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/server"
)

func polled(t testing.TB) (*server.Server, *hearing) {
	t.Helper()
	desk := &hearing{}
	s, _ := newServer(t, func(o *server.Options) { o.Desk, o.Now = desk, noon })
	return s, desk
}

func pollFor(questions, context string) string {
	return `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"p","questions":` + questions + `,"context":` + context + `}`
}

func TestAPollReachesTheDeskWithItsClientAndItsTime(t *testing.T) {
	for context, want := range map[string]time.Duration{
		`{}`: 0, `{"waitMs":4000}`: 0, `{"waitMs":20000}`: 15 * time.Second, `{"waitMs":9007199254740991}`: 50 * time.Second,
	} {
		s, desk := polled(t)
		body := pollFor(`["a","b"]`, context)
		w := tell(s, "/answered", body, signed(body)...)
		if w.Code != http.StatusOK || w.Body.String() != `{"answered":["a","b"]}` || !hmac.MatchAnswer([]byte(secret), "p", w.Body.Bytes(), w.Header().Get(hmac.AnswerHeader)) {
			t.Errorf("%s: got %d %s", context, w.Code, w.Body)
		}
		if desk.client != "laptop" || desk.wait != want {
			t.Errorf("%s: the desk was asked by %s for %v, want %v", context, desk.client, desk.wait, want)
		}
	}
}

// Whatever is sent, the desk is asked about few short names, and the answer names
// nothing else.
func FuzzPoll(f *testing.F) {
	for _, questions := range []string{`[]`, `["a.b.c"]`, `"a"`, `[["a"]]`, `[null]`, `{"a":"b"}`} {
		f.Add(pollFor(questions, `{"waitMs":1}`))
	}
	f.Add(`{"version":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, `"panic"`) {
			t.Skip()
		}
		s, desk := polled(t)
		w := tell(s, "/answered", body, signed(body)...)
		var answer struct {
			Answered []string `json:"answered"`
		}
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &answer) != nil || len(answer.Answered) != len(desk.asked) {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if len(desk.asked) > approval.MaxTickets {
			t.Fatalf("the desk was asked about %d questions", len(desk.asked))
		}
		for _, q := range desk.asked {
			if len(q) > 256 {
				t.Fatalf("the desk was asked about %q", q)
			}
		}
	})
}
