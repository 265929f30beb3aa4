package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestWhatIsSaidOfACallArrivesWhole: all that is said of a call travels in one
// argument, so no text may run into the next, whatever it looks like.
func TestWhatIsSaidOfACallArrivesWhole(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	texts := []string{"plain", "1", "7 7 7 ", " ", "a\nb", "nul\x00nul", "\xff\xfe", "{}%d%s", "é…", strings.Repeat("long 1 ", 20_000)}
	for i, text := range texts {
		next := texts[(i+1)%len(texts)]
		a := session.Admission{
			Conversation: session.Conversation{Client: text, Key: next}, Session: text, RequestID: next, Body: [32]byte{31: ' '},
			Initial: taint.Owner, Birth: taint.Owner, Sender: text, Modes: taint.Every(taint.Allow), Final: true, Leaves: true, Raise: taint.External, Source: next,
			Run: text, RunCap: 2, Brake: session.Brake{Agent: next}, Standing: "p" + text, Digest: next, Grants: []string{text, next}, Keep: time.Hour,
		}
		admit := func(what string, entry session.Entry) session.View {
			t.Helper()
			v, err := store.Admit(t.Context(), a)
			if err != nil || v.Entry != entry {
				t.Fatalf("%.20q, %s: %+v, %v", text, what, v, err)
			}
			return v
		}
		if v := admit("first", session.Passed); v.Worst.Label != next || v.After != taint.External || v.Step != 1 {
			t.Errorf("%.20q: first %+v", text, v)
		}
		if v := admit("replayed", session.Passed); !v.Replayed || v.Standing != "p"+text {
			t.Errorf("%.20q: replayed %+v", text, v)
		}
		a.RequestID, a.RunCap = "steady", 0
		if v := admit("steady", session.Passed); v.Level != taint.External || v.Worst.Label != next || v.Step != 2 {
			t.Errorf("%.20q: steady %+v", text, v)
		}
		if v := admit("steady, replayed", session.Passed); !v.Replayed || v.Standing != "p"+text {
			t.Errorf("%.20q: steady, replayed %+v", text, v)
		}
		a.RequestID, a.RunCap = "capped", 1
		if v := admit("capped", session.Held); !v.Capped {
			t.Errorf("%.20q: capped %+v", text, v)
		}
		a.RequestID, a.RunCap, a.Initial = "sent", -1, taint.Untrusted
		if v := admit("sent", session.Passed); v.Worst.Label != text || v.Level != taint.Untrusted {
			t.Errorf("%.20q: sent %+v", text, v)
		}
		if at, err := store.Reset(t.Context(), a.Conversation.Hash()); err != nil || at != a.Conversation {
			t.Errorf("%.20q: the name became %.60q, %v", text, at, err)
		}
	}
}
