// Package cputest measures what a function takes of the machine, whatever else runs there.
// A test that bounds it then fails on a busy machine only where it does on a quiet one.
package cputest

import (
	"runtime"
	"time"
)

// Time returns the processor time that f takes in its own goroutine. What f waits for is
// not in it, nor what other goroutines do for f, nor what the race detector adds. Where the system does not count by
// thread, it is the time that has passed.
func Time(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	f()
	return (threadTime() - began) / slower
}

// Elapsed returns the time that passes while f runs, waits included, without the time in
// which threads of this process were ready and others had the processors. It is at least
// the processor time of this process, as several threads may be ready at a time. Where the
// system does not count these, it is the time that has passed.
func Elapsed(f func()) time.Duration {
	ran, ready := processTime()
	began := time.Now()
	f()
	passed := time.Since(began)
	ranAfter, readyAfter := processTime()
	return max(ranAfter-ran, passed-(readyAfter-ready))
}
