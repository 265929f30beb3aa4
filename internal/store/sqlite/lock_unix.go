//go:build !windows

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// errHeld is what exclusive answers when somebody else has the lock.
var errHeld error = syscall.EWOULDBLOCK

func exclusive(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// release lets go of the lock by name. A process that somebody starts at this
// moment has a copy of the file until it runs its program, and would keep it.
func release(f *os.File) error {
	return errors.Join(os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN)), f.Close())
}
