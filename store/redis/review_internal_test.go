package redis

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

func startMini(t *testing.T) *redistest.Mini {
	t.Helper()
	m, err := redistest.StartMini()
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func openAt(t *testing.T, m *redistest.Mini) *Store {
	t.Helper()
	s, err := Open(m.URL, Options{Elapsed: func() time.Duration { return 0 }, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoProcessesAgreeOnTheTime: after a failover to a clock that is behind, one that starts then learns from one that ran before. By two
// times a request would be forgotten for one of them that the other still remembers.
func TestTwoProcessesAgreeOnTheTime(t *testing.T) {
	m := startMini(t)
	now := time.UnixMilli(1_700_000_000_000)
	must(t, m.SetTime(now))
	first := openAt(t, m)
	must(t, first.KeepTime(t.Context()))
	must(t, m.SetTime(now.Add(-time.Hour)))
	must(t, first.KeepTime(t.Context()))
	second := openAt(t, m)
	for _, s := range []*Store{second, first, second} {
		must(t, s.KeepTime(t.Context()))
	}
	a := session.Admission{
		Conversation: session.Conversation{Client: "laptop", Key: "k"}, Session: "s", RequestID: "r", Modes: taint.Every(taint.Allow),
		Final: true, Decision: "A", Keep: 10 * time.Minute,
	}
	_, err := second.Admit(t.Context(), a)
	must(t, err)
	if v, err := first.Admit(t.Context(), a); err != nil || !v.Replayed {
		t.Errorf("the request was admitted twice: %+v, %v", v, err)
	}
}
