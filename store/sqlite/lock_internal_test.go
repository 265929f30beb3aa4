//go:build !windows

package sqlite

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A process that is just being started has a copy of every file for a moment.
func TestACopyOfTheLockDoesNotKeepIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "verifier.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(s.records.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(copied) }()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
