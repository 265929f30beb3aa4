//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestInitAsRootLeavesAConfigItsOwners: with sudo, the client of the user must still be able to read its config, and no one else.
func TestInitAsRootLeavesAConfigItsOwners(t *testing.T) {
	t.Parallel()
	file, old := filepath.Join(t.TempDir(), "tui.json"), []byte(`{"theme":"x"}`)
	if err := os.WriteFile(file, old, 0o640); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 { // else there is no owner but us
		uid, gid = 65534, 65533
	}
	if err := os.Chown(file, uid, gid); err != nil {
		t.Fatal(err)
	}
	if _, err := changeFile(file, old, []byte(onlyOurPlugin)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + ".before-verifier"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		was, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(was.Uid) != uid || int(was.Gid) != gid || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %+v, %v", name, was, info.Mode())
		}
	}
}
