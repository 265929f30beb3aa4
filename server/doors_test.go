package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/server"
)

// hearing is a desk that remembers what it was told, and what it was asked about.
type hearing struct {
	noApprovers
	says   string // counts a line with it, if it is not empty
	heard  []approval.Answer
	asked  []string
	client string
	wait   time.Duration
}

func (h *hearing) Answer(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
	switch {
	case a.Carrier == nil:
		return h.noApprovers.Answer(ctx, a)
	case a.Text == ".pause":
		panic("boom")
	}
	h.heard = append(h.heard, a)
	if h.says != "" {
		return approval.Outcome{Kind: approval.Counted, Text: h.says}, nil
	}
	return approval.Outcome{Kind: approval.Replied, Text: "heard"}, nil
}

func (h *hearing) Answered(_ context.Context, client string, tickets []string, wait time.Duration) []string {
	if len(tickets) > 0 && tickets[0] == "panic" {
		panic("boom")
	}
	h.asked, h.client, h.wait = tickets, client, wait
	return tickets
}

// everyDoor has all that a server can have, at paths that differ from the usual ones.
func everyDoor(o *server.Options) {
	auth, err := server.NewAuth(map[string][]string{"laptop": {secret}}, bearer, map[string]string{"Ann": ann})
	if err != nil {
		panic(err)
	}
	o.Auth, o.Path, o.Loop, o.Graph, o.Now = func() *server.Auth { return auth }, "/gate/verify", hears{}, draws, noon
	o.Relays = func(client, platform string) bool { return client == "laptop" && platform == "telegram" }
	say := func(who string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/panic") {
				panic("boom")
			}
			_, _ = io.WriteString(w, who+"\n")
		})
	}
	o.Metrics, o.Page = say("metrics"), say("page")
	o.Login = func(context.Context, string, bool) (string, time.Time, error) { return "/page/login?x", noon(), nil }
	o.Health = func(context.Context) []server.Check {
		return []server.Check{{Name: "store"}, {Name: "chat", Err: errors.New("down"), Informational: true}}
	}
}

// TestDoors knocks as the rows of doors.txt say. No answer repeats why something panicked, and the desk hears of no
// lines but those that it answers.
func TestDoors(t *testing.T) {
	text, err := os.ReadFile("testdata/doors.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("{secret}", secret, "{bearer}", bearer, "{token}", ann,
		"{20k}", strings.Repeat("x", 20<<10), "{head}", `"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r"`, "{ann}", annsChat)
	desk, told := &hearing{}, 0
	s, _ := newServer(t, func(o *server.Options) { everyDoor(o); o.Desk = desk })
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, " | ")
		status, says, _ := strings.Cut(row[0], " ")
		methods, rest, _ := strings.Cut(row[2], " ")
		paths, body, _ := strings.Cut(words.Replace(rest), " ")
		for _, method := range strings.Split(methods, ",") {
			for _, path := range strings.Split(paths, ",") {
				w := knock(s, method, path, body, words.Replace(row[1]))
				if got := w.Body.String(); fmt.Sprint(w.Code) != status || !strings.Contains(got, says) ||
					strings.Contains(got, "boom") || strings.Contains(got, "\x1b") {
					t.Errorf("doors.txt:%d: %s %s of %s: got %d %s", n+1, method, path, row[1], w.Code, got)
				}
				if h := w.Header(); strings.HasPrefix(path, "/api/") && w.Code == http.StatusOK &&
					(h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "") {
					t.Errorf("doors.txt:%d: %v", n+1, h)
				}
				if strings.Contains(says, "told") {
					told++
				}
			}
		}
	}
	if len(desk.heard) != told || desk.asked != nil {
		t.Errorf("the desk heard %+v and was asked about %q", desk.heard, desk.asked)
	}
	// Where the owner switched nothing on, nobody is believed.
	s, _ = newServer(t, func(o *server.Options) { o.Desk, o.Now = desk, noon })
	body := typed(".pending", annsChat)
	if w := tell(s, "/approve", body, signed(body)...); !strings.Contains(w.Body.String(), `"kind":"unauthorised"`) {
		t.Errorf("got %s", w.Body)
	}
}

func knock(s *server.Server, method, path, body, who string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body)) //nolint:noctx // it ends at once
	for part := range strings.SplitSeq(who, ", ") {
		switch part {
		case "nobody":
			continue
		case "sig", "signed":
			req.Header.Set(hmac.RequestHeader, hmac.Sign([]byte(secret), []byte(body)))
			if part = "Bearer " + bearer; !strings.HasPrefix(who, "signed") {
				continue
			}
		case "person":
			part = "Bearer " + ann
		}
		req.Header.Add("Authorization", part)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return w
}
