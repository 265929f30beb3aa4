package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// memory is what a process keeps, in bytes: resident is held against the
// target, after the garbage was collected and given back. Before that it had
// grown to as much.
type memory struct{ grown, resident, heap, stacks int64 }

func takeMemory() memory {
	m := memory{grown: residentBytes()}
	debug.FreeOSMemory()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.resident, m.heap, m.stacks = residentBytes(), int64(s.HeapAlloc), int64(s.StackInuse)
	if m.resident == 0 { // this system does not say
		m.resident = int64(s.Sys - s.HeapReleased)
	}
	return m
}

func (m memory) String() string { return fmt.Sprint(m.grown, m.resident, m.heap, m.stacks) }

// each is what one of n things keeps, where this much was kept before them.
func (m memory) each(before memory, n int) memory {
	per := func(now, then int64) int64 { return (now - then) / int64(n) }
	return memory{
		grown: per(m.grown, before.resident), resident: per(m.resident, before.resident),
		heap: per(m.heap, before.heap), stacks: per(m.stacks, before.stacks),
	}
}
