//go:build unix

package record

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the file for this process alone. The kernel lets go of it when the process dies, however it dies.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// unlock lets go of the lock by name. A process that is being started at this moment has a copy of the file until it
// runs its program, and would keep it.
func unlock(f *os.File) error {
	return errors.Join(os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN)), f.Close())
}
