package sqlite_test

import (
	"database/sql"
	"testing"

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
