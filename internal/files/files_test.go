package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// holds checks what a directory has: the file with its text and mode, and nothing that was left on the way.
func holds(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
		t.Errorf("got mode %v, %v, want %v", info.Mode(), err, mode)
	}
	alone(t, path)
}

func alone(t *testing.T, path string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReplaceTakesThePlaceOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct {
		text string
		mode fs.FileMode
	}{{"one", 0o644}, {"two", files.Private}} {
		if err := files.Replace(path, []byte(c.text), c.mode, nil); err != nil {
			t.Fatal(err)
		}
		holds(t, path, c.text, c.mode)
	}
}

func TestReplaceDoesNotFollowALink(t *testing.T) {
	dir := t.TempDir()
	path, target := filepath.Join(dir, "a"), filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, []byte("theirs"), 0o600), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(path, []byte("ours"), files.Private, nil); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "ours", files.Private)
	holds(t, target, "theirs", files.Private)
}

func TestCreateLeavesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := files.Create(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := files.Create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	holds(t, path, "first", files.Private)
}

func TestNothingIsLeftWhereItFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.MkdirAll(filepath.Join(path, "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if files.Replace(path, []byte("text"), files.Private, nil) == nil {
		t.Error("a directory was replaced by a file")
	}
	alone(t, path)
	if files.Replace(filepath.Join(path, "none", "c"), nil, files.Private, nil) == nil {
		t.Error("a directory was made")
	}
}
