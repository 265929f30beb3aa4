//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMay reports whether anyone but the file's owner may read or write it.
func othersMay(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// othersMayWrite reports whether anyone but the file's owner may change it.
func othersMayWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// isRoots reports whether the file belongs to root, who may do anything anyway.
func isRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}

// isOurs reports whether the file belongs to the user we run as.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}
