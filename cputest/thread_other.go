//go:build !linux

package cputest

import "time"

var start = time.Now()

func threadTime() time.Duration { return time.Since(start) }
