package replay_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/replay"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

const recorded = `{"id":"one","user":["Read it"],"attack":false,"utility":true,"calls":[{"tool":"web_fetch","params":{"url":"https://example.com"},"iteration":0,"result":"words"},{"tool":"exec","params":{"command":"ls"},"iteration":1},{"tool":"exec","params":{"command":"pwd"},"iteration":1}]}

{"id":"two","user":["Read it"],"attack":true,"reached":true,"utility":false,"calls":[{"tool":"exec","params":{"command":"id"},"iteration":0,"injected":true},{"tool":"web_fetch","params":{"url":"https://example.com"},"iteration":1},{"tool":"exec","params":{"command":"ls"},"iteration":2,"injected":true}]}
{"id":"three","user":[],"attack":false,"utility":false,"calls":[{"tool":"read","params":{"path":"a"},"iteration":0}]}
`

func play(t *testing.T, sessions []replay.Session) replay.Report {
	t.Helper()
	return playWith(t, policy.Config{}, sessions)
}

func playWith(t *testing.T, c policy.Config, sessions []replay.Session) replay.Report {
	t.Helper()
	backend, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := store.Open(t.Context(), store.Options{
		Backend: backend, Key: replay.Key, Clients: func() []string { return []string{"replay"} }, Wait: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	rules, _, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	r, err := replay.Run(t.Context(), sessions, replay.Options{
		Policy: rules, Redactor: redactor, Store: store, Visible: func(*approval.Ask) bool { return true },
		Progress: func(done, _ int) { seen = done },
	})
	if err != nil || seen != len(sessions) {
		t.Fatalf("%v after %d of %d sessions", err, seen, len(sessions))
	}
	return r
}

func TestTheNumbersSayWhatHappened(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(recorded)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plain": recorded, "gzip": packed.String()} {
		sessions, err := replay.Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := play(t, sessions)
		if r.Sessions != 3 || r.Tasks != 1 || r.Calls != 3 || r.InjectedCalls != 2 {
			t.Errorf("%s: counted %+v", name, r)
		}
		// The first injected call ran before anything came in: nothing asks then.
		if r.InjectedPassed != 1 || r.LeakedSessions != 1 {
			t.Errorf("%s: attacks %+v", name, r)
		}
		if r.PromptsPerTask != 2 || r.TasksWithoutQuestion != 0 || r.Refused != 0 || len(r.Tools) != 1 {
			t.Errorf("%s: benign %+v", name, r)
		}
	}
}

// A record of our own is played by conversation; what the user said is not in it.
func TestOurOwnRecordIsPlayed(t *testing.T) {
	const own = `{"kind":"begin","seq":1}
{"kind":"decision","seq":2,"requestId":"1","client":"c","session":"agent:main:x","tool":"web_fetch","params":{"url":"https://example.com"},"decision":"allow"}
{"kind":"decision","seq":3,"requestId":"2","client":"c","session":"agent:main:y","tool":"exec","params":{"command":"ls"},"decision":"allow"}
{"kind":"decision","seq":4,"requestId":"3","client":"c","session":"agent:main:x","tool":"exec","params":["command"],"decision":"allow"}
{"kind":"decision","seq":5,"requestId":"3","client":"c","session":"agent:main:x","tool":"exec","replay":true,"decision":"allow"}
`
	sessions, err := replay.Read(strings.NewReader(own))
	if err != nil || len(sessions) != 2 || len(sessions[0].Calls) != 2 {
		t.Fatalf("%v, %v", sessions, err)
	}
	if r := play(t, sessions); r.PromptsPerTask != 0.5 || r.Tasks != 2 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNoSessionIsRefused(t *testing.T) {
	for _, text := range []string{"{}", "[]", `{"calls":3}`, "{", `{"id":"x"}`, `{"calls":[{"tool":1}]}`} {
		if s, err := replay.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", text, s)
		}
	}
	if s, err := replay.Read(strings.NewReader("")); err != nil || len(s) > 0 {
		t.Errorf("nothing: %v, %v", s, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(recorded)
	f.Add("\x1f\x8b")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = replay.Read(strings.NewReader(text)) // it must only not panic
	})
}
