//go:build unix

package record

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A process that is just being started has a copy of every file for a moment.
func TestACopyOfTheFileDoesNotKeepItsLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	l := mustOpen(t, path, testOptions())
	copied, err := syscall.Dup(int(l.disk.(file).Fd())) //nolint:errcheck // a log that was opened has no other
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(copied) }()
	mustClose(t, l)
	mustClose(t, mustOpen(t, path, testOptions()))
}
