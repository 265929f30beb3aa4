// Package cputest measures what a function costs the processor. A test that bounds the
// time of a computation then fails on a busy machine only where it does on a quiet one.
package cputest

import (
	"runtime"
	"time"
)

// Time returns the processor time that f takes in its own goroutine. What f waits for is
// not in it, nor what other goroutines do for f. Where the system does not count by
// thread, it is the time that has passed.
func Time(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	f()
	return threadTime() - began
}
