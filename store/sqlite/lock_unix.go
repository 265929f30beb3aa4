//go:build !windows

package sqlite

import (
	"os"
	"syscall"
)

// errHeld is what exclusive answers when somebody else has the lock.
var errHeld error = syscall.EWOULDBLOCK

func exclusive(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
