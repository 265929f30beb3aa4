//go:build unix

package main

import "syscall"

// openFiles is how many files this process may open. Go has raised it as far as
// the system lets it.
func openFiles() uint64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0
	}
	return r.Cur
}
