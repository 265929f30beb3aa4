//go:build !linux

package cputest

import "time"

var start = time.Now()

func threadTime() time.Duration { return time.Since(start) }

func processTime() (ran, ready time.Duration) { return 0, 0 }
