package sqlite_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

// count is a number that the file holds, as anybody who looks sees it.
func count(t *testing.T, s *sqlite.Store, query string) int64 {
	t.Helper()
	n, err := s.Count(t.Context(), query)
	must(t, err)
	return n
}

// bringing is an admission that is the source of its conversation's level.
func bringing(conversation, request int) session.Admission {
	a := admission(conversation, request)
	a.Raise, a.Source = taint.Local, "exec"
	return a
}

const unposted = `SELECT count(*) FROM journal WHERE unposted`

// TestWhatWasNotPostedCountsAfterARestart ends a store whose last calls are only
// in the journal.
func TestWhatWasNotPostedCountsAfterARestart(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	for i := range 5 {
		admit(t, s, bringing(0, i))
	}
	a := bringing(1, 0)
	admit(t, s, a)
	a.RequestID, a.Source = "req-1", "read" // another source of the same level
	admit(t, s, a)
	if n := count(t, s, unposted); n == 0 {
		t.Fatal("the journal is empty: this test shows nothing")
	}
	must(t, s.Close())
	s = open(t, path, sqlite.Options{})
	for i := range 5 {
		if v := admit(t, s, bringing(0, i)); !v.Replayed || v.Entry != session.Passed {
			t.Errorf("request %d after the restart: %+v", i, v)
		}
	}
	a = bringing(0, 0)
	a.Body[0]++
	if v := admit(t, s, a); v.Entry != session.Conflict {
		t.Errorf("another body for a request of before: %+v", v)
	}
	v := admit(t, s, admission(0, 5))
	if want := (session.Source{Label: "exec", Level: taint.Local, Step: 5}); v.Step != 6 || v.Worst != want || v.Level != taint.Local {
		t.Errorf("after the restart: step %d, level %v since %+v", v.Step, v.Level, v.Worst)
	}
	v = admit(t, s, admission(1, 2))
	if want := (session.Source{Label: "read", Level: taint.Local, Step: 2}); v.Worst != want {
		t.Errorf("the other's source after the restart: %+v", v.Worst)
	}
}

// TestAFullJournalIsPosted makes more calls than it has lines.
func TestAFullJournalIsPosted(t *testing.T) {
	const calls = 1100
	s := open(t, database(t), sqlite.Options{})
	for i := range calls {
		if v := admit(t, s, bringing(i%3, i)); v.Replayed || v.Step != int64(i/3+1) {
			t.Fatalf("call %d: %+v", i, v)
		}
	}
	if lines := count(t, s, `SELECT count(*) FROM journal`); lines > 1024 {
		t.Errorf("it grew to %d lines", lines)
	}
	rows := count(t, s, `SELECT count(*) FROM requests`)
	if left := count(t, s, unposted); rows == 0 || rows+left != calls {
		t.Errorf("%d are posted and %d are not, of %d", rows, left, calls)
	}
	if n := count(t, s, `SELECT sum(calls) FROM overview`); n != calls {
		t.Errorf("a person sees %d calls", n)
	}
	for _, i := range []int{0, 500, calls - 1} {
		if v := admit(t, s, bringing(i%3, i)); !v.Replayed {
			t.Errorf("request %d was forgotten: %+v", i, v)
		}
	}
}

// TestASettlementStandsThoughItsRequestIsNotPosted: the line still says pending.
func TestASettlementStandsThoughItsRequestIsNotPosted(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	admit(t, s, admission(0, 0))
	a := admission(0, 1)
	a.Modes, a.Final = taint.Every(taint.Confirm), false
	held := admit(t, s, a)
	m := session.Settlement{
		Conversation: a.Conversation, Session: a.Session, RequestID: a.RequestID, Body: a.Body, Version: held.Version,
		Raise: taint.Local, Source: "exec", Standing: "A|settled", Keep: time.Minute,
	}
	settle := func() session.Settled {
		settled, err := s.Settle(t.Context(), m)
		must(t, err)
		return settled
	}
	if n := count(t, s, unposted); n != 2 {
		t.Fatalf("%d lines: this test shows nothing", n)
	}
	if got := settle(); got.State != session.Done {
		t.Fatalf("it did not settle: %+v", got)
	}
	for _, posted := range []bool{false, true} {
		if posted {
			must(t, s.Ready(t.Context())) // no admission
			if n := count(t, s, unposted); n != 0 {
				t.Fatalf("%d lines are not posted", n)
			}
		}
		if v := admit(t, s, a); !v.Replayed || v.Standing != "A|settled" || v.Step != 2 || v.Worst.Step != 2 {
			t.Errorf("posted %v: %+v", posted, v)
		}
		if got := settle(); got.State != session.Decided || got.View.Standing != "A|settled" {
			t.Errorf("posted %v: settled again: %+v", posted, got)
		}
	}
}

// TestARequestThatIsOverIsNewAgain has the old one in the journal, and then in
// its table.
func TestARequestThatIsOverIsNewAgain(t *testing.T) {
	for name, between := range map[string]func(*sqlite.Store) error{
		"in the journal": func(*sqlite.Store) error { return nil },
		"in the table":   func(s *sqlite.Store) error { return s.Ready(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s := open(t, database(t), sqlite.Options{Now: clock.Now})
			for step := range 3 {
				a := admission(0, 0)
				a.Body[0] = byte(step)
				if v := admit(t, s, a); v.Replayed || v.Entry != session.Passed || v.Step != int64(step+1) {
					t.Fatalf("time %d: %+v", step, v)
				}
				if v := admit(t, s, a); !v.Replayed {
					t.Fatalf("time %d, sent again: %+v", step, v)
				}
				must(t, between(s))
				clock.advance(a.Keep)
			}
			a := admission(0, 1)
			v := admit(t, s, a)
			must(t, between(s))
			clock.advance(a.Keep)
			settled, err := s.Settle(t.Context(), session.Settlement{
				Conversation: a.Conversation, Session: a.Session, RequestID: a.RequestID, Version: v.Version, Standing: "A|settled", Keep: time.Minute,
			})
			if err != nil || settled.State != session.Done {
				t.Errorf("what is over still stands: %+v, %v", settled, err)
			}
		})
	}
}

// TestWhatSomeoneElseWroteCountsBesideTheJournal removes a conversation by hand
// that has calls in the journal.
func TestWhatSomeoneElseWroteCountsBesideTheJournal(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	for i := range 3 {
		admit(t, s, admission(0, i))
		admit(t, s, admission(1, i))
	}
	other, err := sql.Open("sqlite", path)
	must(t, err)
	defer other.Close()
	_, err = other.ExecContext(t.Context(), `DELETE FROM conversations WHERE hash = ?`, admission(0, 0).Conversation.Hash())
	must(t, err)
	if v := admit(t, s, admission(0, 0)); !v.Replayed || !v.Lost || v.Entry != session.Held {
		t.Errorf("a request of the one that is gone: %+v", v)
	}
	if v := admit(t, s, admission(0, 3)); !v.Lost || v.Level != taint.Untrusted || v.Step != 1 {
		t.Errorf("the one that is gone: %+v", v)
	}
	if v := admit(t, s, admission(1, 3)); v.Lost || v.Step != 4 {
		t.Errorf("the other: %+v", v)
	}
}
