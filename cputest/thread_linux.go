package cputest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// processTime is how long the threads of this process have run and have waited for a processor, all together.
func processTime() (ran, ready time.Duration) {
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is well formed
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // nothing, if the thread has ended
		var r, w time.Duration
		if n, _ := fmt.Sscan(string(text), &r, &w); n == 2 {
			ran, ready = ran+r, ready+w
		}
	}
	return ran, ready
}
