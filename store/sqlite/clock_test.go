package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

// A store that is opened with a clock behind the time it has seen ends what people
// gave for a while, says so, and goes on as usual.
func TestAClockBehindAtTheStart(t *testing.T) {
	t.Parallel()
	for _, jumped := range []time.Duration{0, 365 * 24 * time.Hour} { // set back by an hour, or forward by a year and set right again
		t.Run(jumped.String(), func(t *testing.T) {
			t.Parallel()
			c, path := newClock(), filepath.Join(t.TempDir(), "state.db")
			var told []store.SetBack
			o := sqlite.Options{Now: c.Now, Elapsed: c.Elapsed, Timeout: time.Minute, SetBack: func(b store.SetBack) { told = append(told, b) }}
			s, err := sqlite.Open(path, o)
			must(t, err)
			c.setBack(-jumped)
			name := session.Conversation{Client: "laptop", Key: "agent:main:a"}
			a := session.Admission{
				Conversation: name, Session: "s1", RequestID: "r", Body: [32]byte{1}, Initial: taint.Owner, Modes: taint.Every(taint.Allow),
				Final: true, Decision: "A", Raise: taint.Untrusted, Source: "web_fetch", Keep: time.Hour,
			}
			_, err = s.Admit(t.Context(), a)
			must(t, err)
			grant(t, s, name, c.Now(), "before")
			if held, err := s.Hold(t.Context(), "telegram", "one", time.Minute); err != nil || !held {
				t.Fatal(held, err)
			}
			must(t, s.Close())
			c.setBack(max(jumped, time.Hour))
			s, err = sqlite.Open(path, o)
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			if len(told) != 1 || !told[0].Start || told[0].By < time.Hour || told[0].Grants != 1 || told[0].Questions != 1 {
				t.Errorf("told %+v", told)
			}
			wantGrants(t, s, 0)
			if open, err := s.Open(t.Context()); err != nil || len(open) > 0 {
				t.Errorf("questions %v, %v", open, err)
			}
			if id, err := s.Find(t.Context(), "seal-before"); err != nil || id != "" {
				t.Errorf("the code still leads to %q, %v", id, err)
			}
			// What nobody gave for a while is as it was: the level, the request, the lease.
			again := a
			again.Pauses = session.PauseView{}
			v, err := s.Admit(t.Context(), again)
			must(t, err)
			if !v.Replayed || v.Level != taint.Untrusted || !v.Now.Equal(c.Now()) {
				t.Errorf("the same request meets %+v", v)
			}
			if held, err := s.Hold(t.Context(), "telegram", "two", time.Minute); err != nil || held {
				t.Error("the lease is free", err)
			}
			// New ones last as long as they should.
			grant(t, s, name, c.Now(), "after")
			wantGrants(t, s, 1)
			c.advance(61 * time.Second)
			wantGrants(t, s, 0)
			if held, err := s.Hold(t.Context(), "telegram", "two", time.Minute); err != nil || !held {
				t.Error("the lease never ends", err)
			}
			c.advance(time.Hour)
			v, err = s.Admit(t.Context(), again)
			must(t, err)
			if v.Replayed {
				t.Error("the request is remembered for longer than it was to be")
			}
		})
	}
}

// A clock that is right at the start ends nothing.
func TestAClockThatIsRightAtTheStart(t *testing.T) {
	t.Parallel()
	c, path := newClock(), filepath.Join(t.TempDir(), "state.db")
	o := sqlite.Options{Now: c.Now, Elapsed: c.Elapsed, Timeout: time.Minute, SetBack: func(b store.SetBack) { t.Error("told", b) }}
	name := session.Conversation{Client: "laptop", Key: "agent:main:a"}
	for n := range 2 {
		s, err := sqlite.Open(path, o)
		must(t, err)
		if n == 0 {
			_, err = s.Admit(t.Context(), session.Admission{Conversation: name, RequestID: "r", Modes: taint.Every(taint.Allow), Final: true, Decision: "A", Keep: time.Hour})
			must(t, err)
			grant(t, s, name, c.Now(), "one")
		}
		wantGrants(t, s, 1)
		must(t, s.Close())
	}
}

// grant puts a question and grants a minute for it.
func grant(t *testing.T, s *sqlite.Store, name session.Conversation, now time.Time, id string) {
	t.Helper()
	id = name.Hash()[:2] + fmt.Sprintf("%032x", id)
	_, err := s.Place(t.Context(), approval.Draft{ID: id, Conversation: name, Digests: []string{"digest " + id}, CodeSeal: "seal-" + id, Live: time.Minute, MaxOpen: 5})
	must(t, err)
	err = s.Swap(t.Context(), approval.Change{
		ID: id, Version: 1, Conversation: name, Blob: []byte("yes"), Closed: true,
		Grants: map[string]string{"field": fmt.Sprintf("%d|value", now.Add(time.Minute).Unix())}, Waiting: map[string]time.Time{"digest " + id: now.Add(time.Minute)},
	})
	if err != nil && !errors.Is(err, approval.ErrStale) {
		t.Fatal(err)
	}
}

func wantGrants(t *testing.T, s *sqlite.Store, want int) {
	t.Helper()
	grants, _, err := s.Grants(t.Context(), "", 10)
	must(t, err)
	if len(grants) != want {
		t.Errorf("%d grants, want %d", len(grants), want)
	}
}
