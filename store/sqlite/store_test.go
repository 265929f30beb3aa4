package sqlite_test

import (
	"context"
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

// A dump of a database has its tables and not its version.
func TestADatabaseOfAnotherVersionIsRefused(t *testing.T) {
	for _, version := range []string{"0", "11", "99"} {
		path := database(t)
		s := open(t, path, sqlite.Options{})
		must(t, s.Exec(t.Context(), `PRAGMA user_version = `+version))
		must(t, s.Close())
		_, err := sqlite.Open(path, sqlite.Options{})
		wantError(t, err, sqlite.ErrSchema)
		look, err := sqlite.OpenReadOnly(path)
		must(t, err)
		_, err = look.Head(t.Context(), "default")
		wantError(t, err, sqlite.ErrSchema)
		must(t, look.Close())
	}
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
