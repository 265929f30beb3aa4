package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/store"
)

func openEpoch(t *testing.T, path string) *store.Epoch {
	t.Helper()
	e, err := store.OpenEpoch(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEpochSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "epoch")
	e := openEpoch(t, path)
	if e.ID() != "" {
		t.Fatalf("an epoch from nowhere: %q", e.ID())
	}
	id := store.NewEpochID()
	if err := e.Save(id); err != nil {
		t.Fatal(err)
	}
	if got := openEpoch(t, path).ID(); got != id || e.ID() != id {
		t.Errorf("saved %q, reopened %q, in memory %q", id, got, e.ID())
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", fi.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*"))
	if len(left) != 0 {
		t.Errorf("temporary files left behind: %v", left)
	}
}

func TestDamagedEpochIsNotAFreshStart(t *testing.T) {
	for _, content := range []string{"", "\n", "short", "two words and more", "abcdefgh\nabcdefgh\n"} {
		path := filepath.Join(t.TempDir(), "epoch")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.OpenEpoch(path); !errors.Is(err, store.ErrEpoch) {
			t.Errorf("%q: %v, want ErrEpoch", content, err)
		}
	}
}

func TestAnEpochThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "epoch")
	if err := openEpoch(t, path).Save(store.NewEpochID()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenEpoch(path); err == nil || !strings.Contains(err.Error(), "hint: chmod 600") {
		t.Errorf("got %v", err)
	}
}

func TestFailedSaveKeepsTheOldEpoch(t *testing.T) {
	dir := t.TempDir()
	e := openEpoch(t, filepath.Join(dir, "epoch"))
	old := store.NewEpochID()
	if err := e.Save(old); err != nil {
		t.Fatal(err)
	}
	if err := e.Save("no epoch at all"); err == nil || e.ID() != old {
		t.Errorf("saved nonsense: %v, %q", err, e.ID())
	}
}
