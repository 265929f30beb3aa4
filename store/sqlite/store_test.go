package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

func database(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "state.db") }

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func admit(t *testing.T, s *sqlite.Store, a session.Admission) session.View {
	t.Helper()
	v, err := s.Admit(t.Context(), a)
	must(t, err)
	return v
}

func TestOneProcessHasTheDatabase(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	_, err := sqlite.Open(path, sqlite.Options{})
	wantError(t, err, sqlite.ErrInUse)
	must(t, s.Close())
	open(t, path, sqlite.Options{})
}

func TestOthersCannotRead(t *testing.T) {
	path := database(t)
	open(t, path, sqlite.Options{})
	for _, side := range []string{"", "-wal", "-shm", ".lock", ".epoch"} {
		fi, err := os.Stat(path + side)
		must(t, err)
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", path+side, fi.Mode())
		}
	}
	fi, err := os.Stat(filepath.Dir(path))
	must(t, err)
	if fi.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, want 0700", fi.Mode())
	}
}

func TestAFileThatOthersCanReadIsRefused(t *testing.T) {
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660} {
		path := filepath.Join(t.TempDir(), "state.db")
		must(t, os.WriteFile(path, nil, mode))
		must(t, os.Chmod(path, mode))
		_, err := sqlite.Open(path, sqlite.Options{})
		wantError(t, err, sqlite.ErrExposed)
	}
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	must(t, s.Exec(t.Context(), `PRAGMA user_version = 99`))
	must(t, s.Close())
	_, err := sqlite.Open(path, sqlite.Options{})
	wantError(t, err, sqlite.ErrSchema)
}

func TestWhatIsNoDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	if _, err := sqlite.Open(path, sqlite.Options{}); err == nil {
		t.Fatal("opened 8 KB of zeroes")
	}
}

func TestH19AReplacedDatabaseIsLostNotNew(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	if v := admit(t, s, admission(0, 0)); v.Lost || v.Level != taint.Owner {
		t.Fatalf("a new store: %+v", v)
	}
	must(t, s.Close())
	must(t, os.Remove(path))

	for _, opening := range []int{1, 2} { // it stays lost
		s = open(t, path, sqlite.Options{})
		if v := admit(t, s, admission(opening, 0)); !v.Lost || v.Level != taint.Untrusted {
			t.Fatalf("opening %d after the loss: %+v", opening, v)
		}
		if floor, err := s.AutomationFloor(t.Context(), "laptop", "main"); err != nil || floor != taint.Untrusted {
			t.Fatalf("the automation floor after the loss: %v, %v", floor, err)
		}
		if opening == 1 {
			must(t, s.Close())
		}
	}
	must(t, s.AcceptLoss(t.Context()))
	if v := admit(t, s, admission(3, 0)); v.Lost || v.Level != taint.Owner {
		t.Fatalf("after the loss was accepted: %+v", v)
	}
	if v := admit(t, s, admission(1, 1)); v.Level != taint.Untrusted {
		t.Fatalf("one born after the loss became %v", v.Level)
	}
	must(t, s.Close())
	s = open(t, path, sqlite.Options{})
	if lost, err := s.Lost(t.Context()); lost || err != nil {
		t.Fatalf("lost again: %v", err)
	}
}

func TestAStoreWithoutLocalEpochIsAdopted(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	must(t, s.Close())
	epoch, err := store.OpenEpoch(filepath.Join(t.TempDir(), "epoch"))
	must(t, err)
	s = open(t, path, sqlite.Options{Epoch: epoch})
	if v := admit(t, s, admission(0, 0)); v.Lost || epoch.ID() == "" {
		t.Fatalf("epoch %q, %+v", epoch.ID(), v)
	}
}

func TestADamagedEpochFileStopsTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(path+".epoch", nil, 0o600))
	_, err := sqlite.Open(path, sqlite.Options{})
	wantError(t, err, store.ErrEpoch)
	must(t, os.Remove(path+".epoch"))
	open(t, path, sqlite.Options{}) // nothing was left locked
}

func TestReadOnlyLooksWhileTheServerRuns(t *testing.T) {
	path := database(t)
	_, err := sqlite.OpenReadOnly(path)
	wantError(t, err, fs.ErrNotExist)
	s := open(t, path, sqlite.Options{})
	must(t, s.KeepHead(t.Context(), "default", "first"))
	r, err := sqlite.OpenReadOnly(path)
	must(t, err)
	wantHead(t, r, "default", "first")
	must(t, s.KeepHead(t.Context(), "default", "second"))
	wantHead(t, r, "default", "second")
	wantHead(t, r, "other", "")
	wantHead(t, s, "default", "second")
	must(t, r.Close())
	must(t, s.Close())

	r, err = sqlite.OpenReadOnly(path) // and after it has gone
	must(t, err)
	wantHead(t, r, "default", "second")
	must(t, r.Close())
}

func wantHead(t *testing.T, from interface {
	Head(ctx context.Context, name string) (string, error)
}, name, want string,
) {
	t.Helper()
	if head, err := from.Head(t.Context(), name); err != nil || head != want {
		t.Fatalf("head %q, %v; want %q", head, err, want)
	}
}

func TestReadyNoticesThatTheFileIsGone(t *testing.T) {
	path := database(t)
	s := open(t, path, sqlite.Options{})
	must(t, s.Ready(t.Context()))
	must(t, os.Rename(path, path+".old"))
	wantError(t, s.Ready(t.Context()), sqlite.ErrReplaced)
	must(t, os.Rename(path+".old", path))
	must(t, s.Ready(t.Context()))
}

func TestTheStateIsReadableByPeople(t *testing.T) {
	s := open(t, database(t), sqlite.Options{Now: newClock().Now})
	a := admission(0, 0)
	a.Raise, a.Source = taint.External, "message"
	admit(t, s, a)
	admit(t, s, admission(0, 1))
	n, err := s.CountRows(t.Context(), `SELECT count(*) FROM overview WHERE ref = ? AND client = 'laptop' AND session_key = 'agent:main:0'
		AND level = 'external' AND source = 'message' AND calls = 2 AND last_call = '2026-11-15 12:00:00'`, a.Conversation.Ref())
	if err != nil || n != 1 {
		t.Fatalf("%d rows, %v", n, err)
	}
}

// earlier makes a database as an earlier version left it.
func earlier(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(path, nil, 0o600))
	d, err := sql.Open("sqlite", path)
	must(t, err)
	now, hash := newClock().Now().UnixMilli(), admission(0, 0).Conversation.Hash()
	for _, statement := range []string{
		sqlite.EarlierSchema,
		`INSERT INTO meta VALUES ('epoch', 'NQ4TMKZ3PX3O4GVGEE4GOLVVQM'), ('time', $now)`,
		`INSERT INTO heads VALUES ('default', 'a head', $now)`,
		`INSERT INTO known VALUES ($hash)`,
		`INSERT INTO conversations VALUES ($hash, 'laptop', 'agent:main:0', NULL, NULL, 5, 0, 3, 1, 'web_fetch example.com', 5, 1, $now, 1)`,
		`INSERT INTO levels VALUES ($hash, 's1', 5)`,
		`INSERT INTO influences VALUES ($hash, 's1', '1 5 0 ' || $now || ' ' || $now || ' 1 0 web_fetch example.com' || char(10))`,
		`INSERT INTO grants VALUES ($hash, 'field', '9999999999|rest', 9999999999000)`,
		`INSERT INTO requests VALUES ($hash, 'req-0', zeroblob(32), 'A|mark', $now + 60000)`,
		`INSERT INTO journal VALUES (1, 1, $hash, 'req-1', zeroblob(32), 'A|mark', $now + 60000, $now, 2, 1)`,
		`INSERT INTO pauses VALUES ('main', 'a sealed word')`,
		`INSERT INTO automations VALUES ('laptop', 'main', 4)`,
		`INSERT INTO notes (list, entry, until_ms) VALUES ('00a', x'00', $now + 60000)`,
		`PRAGMA user_version = 10`,
	} {
		_, err := d.ExecContext(t.Context(), statement, sql.Named("now", now), sql.Named("hash", hash))
		must(t, err)
	}
	must(t, d.Close())
	must(t, os.WriteFile(path+".epoch", []byte("NQ4TMKZ3PX3O4GVGEE4GOLVVQM\n"), 0o600))
	return path
}

// A dump of a database has its tables and not its version. Taken for a new one, its levels would be forgotten.
func TestADatabaseThatLostItsVersionIsRefused(t *testing.T) {
	path := earlier(t)
	d, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = d.ExecContext(t.Context(), `PRAGMA user_version = 0`)
	must(t, errors.Join(err, d.Close(), os.Remove(path+".epoch")))
	if s, err := sqlite.Open(path, sqlite.Options{}); err == nil {
		t.Error("it was opened as a new one", s.Close())
	}
}

func TestADatabaseOfAnEarlierVersionIsRead(t *testing.T) {
	path := earlier(t)
	look, err := sqlite.OpenReadOnly(path)
	must(t, err)
	wantHead(t, look, "default", "a head")
	must(t, look.Close())
	clock := newClock()
	for _, opening := range []string{"first", "second"} {
		s := open(t, path, sqlite.Options{Now: clock.Now})
		if lost, err := s.Lost(t.Context()); lost || err != nil {
			t.Fatalf("%s: lost %v, %v", opening, lost, err)
		}
		if v := admit(t, s, admission(0, 0)); !v.Replayed || v.Entry != session.Passed || v.Level != taint.Untrusted {
			t.Errorf("%s: its request and its level: %+v", opening, v)
		}
		if v := admit(t, s, admission(0, 1)); !v.Replayed {
			t.Errorf("%s: a request that was only in the journal: %+v", opening, v)
		}
		if opening == "first" {
			if v := admit(t, s, admission(0, 2)); v.Replayed || v.Step != 3 || v.Lost {
				t.Errorf("%s: a new call: %+v", opening, v)
			}
		}
		account, err := s.Influences(t.Context(), admission(0, 0).Conversation.Ref())
		if err != nil || len(account.Influences) != 1 || account.Influences[0].Label != "web_fetch example.com" {
			t.Errorf("%s: its sources are %+v, %v", opening, account, err)
		}
		if words, err := s.Pauses(t.Context()); err != nil || words["main"] != "a sealed word" {
			t.Errorf("%s: its pauses are %v, %v", opening, words, err)
		}
		wantHead(t, s, "default", "a head")
		if floor, err := s.AutomationFloor(t.Context(), "laptop", "main"); err != nil || floor != taint.External {
			t.Errorf("%s: its automation floor is %v, %v", opening, floor, err)
		}
		for _, of := range []string{admission(0, 0).Conversation.Hash(), ""} {
			if grants, _, err := s.Grants(t.Context(), of, 10); err != nil || len(grants) != 1 {
				t.Errorf("%s: the grants of %q are %v, %v", opening, of, grants, err)
			}
		}
		if notes, err := s.Notes(t.Context(), "00a"); err != nil || len(notes) != 1 {
			t.Errorf("%s: its notes are %q, %v", opening, notes, err)
		}
		must(t, s.Close())
	}
}
