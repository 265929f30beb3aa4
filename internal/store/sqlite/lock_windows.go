package sqlite

import (
	"os"
	"syscall"
	"unsafe"
)

// errHeld is what exclusive answers when somebody else has the lock
// (ERROR_LOCK_VIOLATION).
var errHeld error = syscall.Errno(33)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// exclusive locks the first byte, at once or not at all.
func exclusive(f *os.File) error {
	const failImmediately, exclusiveLock = 1, 2
	var at syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusiveLock, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok == 0 {
		return err
	}
	return nil
}

// release lets go of the lock with the file.
func release(f *os.File) error { return f.Close() }
