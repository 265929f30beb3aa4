package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

// screen is what a terminal shows.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// shows waits until the screen has a text so many times.
func (s *screen) shows(t *testing.T, text string, times int) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		s.mu.Lock()
		all := s.text.String()
		s.mu.Unlock()
		if strings.Count(all, text) >= times {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("no %q on the screen:\n%s", text, all)
		}
	}
}

// A server holds a call for a while only. The call is sent again then, and joins
// the same question.
func TestSendWaitsAsLongAsTheQuestionIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.MaxHold, c.Webhook.Hold = 2*time.Second, 2*time.Second })
	s, out := &screen{}, &bytes.Buffer{}
	ended := make(chan int, 1)
	a := &app{chats: builtin, ctx: t.Context(), stdout: out, stderr: s}
	go func() {
		ended <- a.run([]string{"send", "--url", r.url, "--state", r.state.Dir(), "--tool", "exec", "--params", `{"command":"make deploy"}`})
	}()
	s.shows(t, "Waiting for the owner's answer.", 1)
	ref := r.waits().Ref
	for held := 0; held < 2; { // it was held, denied and held again
		held = 0
		for _, e := range r.entries() {
			if e.Kind == audit.KindDecision && e.Decision == audit.Deny && e.Ref == ref {
				held++
			}
		}
		<-time.After(50 * time.Millisecond)
	}
	r.approve(ref, 0)
	if code := <-ended; code != exitOK || out.String() != "allow\n" {
		t.Errorf("it ended with %d and %q", code, out)
	}
}
