//go:build !windows

package files

import (
	"errors"
	"os"
	"syscall"
)

// Give makes a file that of another one's owner and group. As root it would be root's otherwise, and its owner could
// not read it.
func Give(f *os.File, as os.FileInfo) error {
	was, ok := as.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil // what others own we could not give away
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}

// Lock takes a file for this process alone. The kernel lets go of it when the process dies, however it dies.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock lets go of the lock by name. A process that is being started at this moment has a copy of the file until it
// runs its program, and would keep it.
func Unlock(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
