package record

import (
	"os"
	"syscall"
)

// file is the disk behind a log.
type file struct{ *os.File }

// Sync leaves out what fsync writes besides the data and its length.
func (f file) Sync() error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
