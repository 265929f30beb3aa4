package sqlite_test

import (
	"context"
	"database/sql"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestWhatSomeoneElseWroteCounts changes the file under the store, as a person
// with sqlite3 would, between two admissions.
func TestWhatSomeoneElseWroteCounts(t *testing.T) {
	all := session.AllAgents
	for name, c := range map[string]struct {
		write string
		holds func(session.View) bool
	}{
		"a level":            {`UPDATE levels SET level = 5`, func(v session.View) bool { return v.Level == taint.Untrusted }},
		"a conversation":     {`DELETE FROM conversations`, func(v session.View) bool { return v.Lost && v.Level == taint.Untrusted }},
		"a pause":            {`INSERT INTO pauses VALUES ('` + all + `', 'on')`, func(v session.View) bool { return v.Entry == session.Braked }},
		"a child's new root": {`UPDATE conversations SET root_client = 'laptop', root_key = 'x'`, func(v session.View) bool { return v.Entry == session.Moved }},
	} {
		t.Run(name, func(t *testing.T) {
			path := database(t)
			s := open(t, path, sqlite.Options{})
			admit(t, s, admission(0, 0))
			if v := admit(t, s, admission(0, 1)); v.Level != taint.Owner || v.Step != 2 {
				t.Fatalf("before: %+v", v)
			}
			other, err := sql.Open("sqlite", path)
			must(t, err)
			defer other.Close()
			_, err = other.ExecContext(t.Context(), c.write)
			must(t, err)
			if v := admit(t, s, admission(0, 2)); !c.holds(v) {
				t.Errorf("it was not seen: %+v", v)
			}
		})
	}
}

// TestWhatAnAdmissionDidNotCommitIsForgotten makes the write at the end of a
// transaction fail.
func TestWhatAnAdmissionDidNotCommitIsForgotten(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	must(t, s.Exec(t.Context(), `CREATE TRIGGER full BEFORE UPDATE ON conversations WHEN new.source = 'message'
		BEGIN SELECT RAISE(ABORT, 'full'); END`))
	admit(t, s, admission(0, 0))
	a := admission(0, 1)
	a.Raise, a.Source = taint.External, "message"
	if _, err := s.Admit(t.Context(), a); err == nil {
		t.Fatal("admitted, though nothing could be written")
	}
	if v := admit(t, s, admission(0, 2)); v.Step != 2 || v.Level != taint.Owner {
		t.Errorf("what was undone still counts: %+v", v)
	}
}

// TestAPauseCountsForWhoeverComesAfterIt has one call look at the pauses before
// the owner's word, and one after, in the same transaction.
func TestAPauseCountsForWhoeverComesAfterIt(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	admits := func(request int) step {
		return func(ctx context.Context, s both) []any {
			v, err := s.Admit(ctx, admission(0, request))
			return []any{v.Entry, err}
		}
	}
	got := grouped(t, s, []step{
		admits(1),
		func(ctx context.Context, s both) []any { return []any{s.Pause(ctx, session.AllAgents, "on")} },
		admits(2),
	})
	if got[0][0] != session.Passed || got[2][0] != session.Braked {
		t.Errorf("before the pause: %v; after it: %v", got[0], got[2])
	}
}

// TestWhatWasSweptIsNotRemembered lets the writer sweep by itself, a month later.
func TestWhatWasSweptIsNotRemembered(t *testing.T) {
	path := database(t)
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		s := open(t, path, sqlite.Options{Now: clock.Now})
		admit(t, s, admission(0, 0))
		clock.advance(31 * 24 * time.Hour)
		<-time.After(time.Minute) // it sweeps every so often
		if v := admit(t, s, admission(0, 1)); !v.Lost || v.Level != taint.Untrusted {
			t.Errorf("a conversation that is not there any more: %+v", v)
		}
		must(t, s.Close())
	})
}

func TestFewConversationsAreRemembered(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	for i := range 300 {
		admit(t, s, admission(i, 0))
	}
	n, _, err := s.Remembers(t.Context())
	must(t, err)
	if n > 256 {
		t.Errorf("%d are", n)
	}
	admit(t, s, admission(0, 1))
	if n, _, err := s.Remembers(t.Context()); n != 1 || err != nil {
		t.Errorf("of one that was just there: %d, %v", n, err)
	}
}

// TestFewLevelsAreRemembered: a conversation may have any number of session ids.
func TestFewLevelsAreRemembered(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	for i := range 1100 {
		a := admission(0, i)
		a.Session = a.RequestID
		admit(t, s, a)
	}
	_, n, err := s.Remembers(t.Context())
	must(t, err)
	if n == 0 || n > 1024 {
		t.Errorf("%d are", n)
	}
}

// TestAnAdmissionThatFailsHalfwayIsUndone makes what the conversation was
// influenced by unreadable: the call was let in, and what it brings could not be
// noted. Sent again, it must not find an allow that stands.
func TestAnAdmissionThatFailsHalfwayIsUndone(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	a := admission(0, 0)
	a.Raise, a.Source = taint.External, "message"
	admit(t, s, a)
	must(t, s.Exec(t.Context(), `UPDATE influences SET list = 'broken'`))
	a = admission(0, 1)
	a.Raise, a.Source = taint.Untrusted, "web_fetch"
	for range 2 {
		if v, err := s.Admit(t.Context(), a); err == nil {
			t.Errorf("it passed: %+v", v)
		}
	}
}

// TestReportsAndNotesBetweenAdmissions: a report, a secret and a note leave true what admissions remember, and what they changed counts.
func TestReportsAndNotesBetweenAdmissions(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	admit(t, s, admission(0, 0))
	a := admission(0, 1)
	r := session.Report{
		Conversation: a.Conversation, Session: a.Session, RequestID: "told", Body: [32]byte{7}, Keep: time.Hour, Raise: taint.External, Source: "web_fetch", Tool: true,
	}
	heard, err := s.Hear(t.Context(), r)
	must(t, err)
	must(t, s.Note(t.Context(), session.Note{List: "list", Entries: [][]byte{[]byte("entry")}, Most: 1, Keep: time.Hour}))
	must(t, s.Expose(t.Context(), a.Conversation, "a key"))
	if n, _, err := s.Remembers(t.Context()); n != 1 || err != nil {
		t.Errorf("%d conversations are remembered, %v", n, err)
	}
	if v := admit(t, s, a); heard.Level != taint.External || heard.Step != 1 || v.Level != taint.External || v.Step != 2 {
		t.Errorf("heard %+v, then %+v", heard, v)
	}
	again, err := s.Hear(t.Context(), r)
	if err != nil || !again.Replayed {
		t.Errorf("the same report: %+v, %v", again, err)
	}
	r.RequestID, r.Body = a.RequestID, [32]byte{8} // that of a call that is in the journal only
	if other, err := s.Hear(t.Context(), r); err != nil || !other.Conflict {
		t.Errorf("a report by a call's id: %+v, %v", other, err)
	}
	if secret, err := s.Exposed(t.Context(), a.Conversation); secret != "a key" || err != nil {
		t.Errorf("it knows %q, %v", secret, err)
	}
}

// TestWhatIsExposedAgainAndAgainIsKept: a workspace that is written into each day stays exposed for as long.
func TestWhatIsExposedAgainAndAgainIsKept(t *testing.T) {
	clock := newClock()
	s := open(t, database(t), sqlite.Options{Now: clock.Now})
	workspace := session.Conversation{Client: "laptop", Key: "(workspace)"}
	for range 60 {
		must(t, s.Expose(t.Context(), workspace, "files"))
		clock.advance(24 * time.Hour)
		must(t, s.Sweep(t.Context()))
	}
	if secret, err := s.Exposed(t.Context(), workspace); secret != "files" || err != nil {
		t.Errorf("after 60 days: %q, %v", secret, err)
	}
}
