//go:build !windows

package wholefile

import (
	"os"
	"syscall"
)

// Give makes a file that of another one's owner and group. As root it would be root's otherwise, and its owner could not read it.
func Give(f *os.File, as os.FileInfo) error {
	was, ok := as.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil // what others own we could not give away
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}
