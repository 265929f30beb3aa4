package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// serving is `verifier serve` with a config, a state directory and an address of
// its own.
type serving struct {
	t           *testing.T
	dir         string
	out, stderr *output
}

func serveIn(t *testing.T, text string) *serving {
	t.Helper()
	s := &serving{t: t, dir: t.TempDir(), out: &output{}, stderr: &output{}}
	s.put("verifier.yaml", text)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		a := &app{chats: builtin, ctx: ctx, stdout: s.out, stderr: s.stderr}
		done <- a.run([]string{"serve", "--config", s.path("verifier.yaml"), "--state", s.path("the state"), "--listen", "127.0.0.1:0"})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("serve ended with %d:\n%s", code, s.stderr)
		}
	})
	redistest.Eventually(t, "it listens", func() bool { return strings.Contains(s.out.String(), "Answer from a third") })
	return s
}

func (s *serving) path(name string) string { return filepath.Join(s.dir, name) }

func (s *serving) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *serving) tells(what string) {
	s.t.Helper()
	redistest.Eventually(s.t, "the log says "+what, func() bool { return strings.Contains(s.stderr.String(), what) })
}

func TestARefusedConfigIsTakenOnceWhatWasWrongIsMended(t *testing.T) {
	t.Parallel()
	s := serveIn(t, "webhook: {secret: "+firstSecret+"}\n")

	s.put("verifier.yaml", "webhook: {secret: file:"+s.path("secret")+"}\n")
	s.tells("does not exist")
	s.put("secret", secondSecret+"\n") // the config itself stays as it is
	s.tells("changed=[webhook.secrets]")

	s.put("verifier.yaml", "webhook: {secret: "+firstSecret+"}\nprofile: strict\n")
	s.tells("changed=\"[policy webhook.secrets]\"")
	if err := os.Chmod(s.path("verifier.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.tells("a secret is in a file that others can read")
	refusals := func() int { return strings.Count(s.stderr.String(), "stays in force") }
	before := refusals()
	s.put("verifier.yaml", "webhook: {secret: "+firstSecret+"}\nprofile: paranoid\n")
	redistest.Eventually(t, "it is refused again", func() bool { return refusals() > before })
	if err := os.Chmod(s.path("verifier.yaml"), 0o600); err != nil { // as the log's hint says
		t.Fatal(err)
	}
	s.tells("changed=[policy]")
	if log := s.stderr.String(); strings.Contains(log, "restart") || strings.Contains(log, firstSecret) {
		t.Errorf("the address of --listen is no change:\n%s", log)
	}
}

func TestTheGreetingsCommandsFindTheServer(t *testing.T) {
	t.Setenv("VERIFIER_STATE", t.TempDir()) // of another one
	s := serveIn(t, "webhook: {secret: "+firstSecret+"}\nlisten: 127.0.0.1:1\n")
	_, rest, _ := strings.Cut(s.out.String(), " watch")
	flags, _, _ := strings.Cut(rest, "\n")
	args := []string{"pending"}
	for word := range strings.SplitSeq(strings.TrimSpace(flags), " --") {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), " ")
		args = append(args, "--"+name, strings.Trim(value, "'"))
	}
	got := &bytes.Buffer{}
	if code := run(t.Context(), args, got, got); code != exitOK {
		t.Errorf("%q ended with %d: %s", args, code, got)
	}
}
