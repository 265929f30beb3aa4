package main

import (
	"bytes"
	"io"
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

func TestWhatWaitsIsWatchedAndAnsweredWithAKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	s := &screen{}
	in, keyboard := io.Pipe()
	ended := make(chan int, 1)
	a := &app{chats: builtin, ctx: t.Context(), stdin: in, stdout: s, stderr: s}
	go func() { ended <- a.run([]string{"watch", "--url", r.url, "--state", r.state.Dir()}) }()
	press := func(key string) {
		t.Helper()
		if _, err := io.WriteString(keyboard, key); err != nil {
			t.Fatal(err)
		}
	}
	s.shows(t, "Nothing waits.", 1)
	press("y") // nothing is there to say it to

	held := r.hold(sh("make deploy", unvouched("x")))
	s.shows(t, "make deploy", 1)
	s.shows(t, "y allow once · n deny · m allow 30 min · s skip · q quit", 1)
	<-time.After(tooSoon) // a key in the first moment does not count
	press("y")
	if a := <-held; !a.allowed() {
		t.Errorf("after y: %s", a.raw)
	}
	s.shows(t, `"exec" approved once by owner`, 1)

	held = r.hold(sh("make clean", unvouched("x")))
	s.shows(t, "make clean", 1)
	press("y") // meant for something else
	<-time.After(tooSoon)
	press("x")
	s.shows(t, "y, n, m, s or q.", 1)
	press("n")
	if a := <-held; a.allowed() {
		t.Errorf("after n: %s", a.raw)
	}

	held = r.hold(sh("make elsewhere", unvouched("x")))
	s.shows(t, "make elsewhere", 1)
	r.refuse(r.waits().Ref, "")
	<-held
	s.shows(t, "is no longer open.", 1)
	press("q")
	if code := <-ended; code != exitOK {
		t.Errorf("it ended with %d", code)
	}
	_ = keyboard.Close()
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
