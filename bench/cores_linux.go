package main

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// cores says which cores the servers have to themselves, so that neither the
// client nor Redis takes time from what is measured.
type cores struct {
	apart          bool
	server, others unix.CPUSet
}

// splitCores gives the servers one core and everything else the rest, where
// there are two at least.
func splitCores(pin bool) cores {
	var c cores
	var all unix.CPUSet
	if !pin || unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return c
	}
	c.apart, c.others = true, all
	for cpu := 0; ; cpu++ {
		if all.IsSet(cpu) {
			c.server.Set(cpu)
			c.others.Clear(cpu)
			return c
		}
	}
}

// rest moves this process, and whatever it starts from now on, off the servers'
// core.
func (c *cores) rest() error {
	if !c.apart {
		return nil
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &c.others); err != nil {
			return os.NewSyscallError("sched_setaffinity", err)
		}
	}
	runtime.GOMAXPROCS(c.others.Count())
	return nil
}

// onServers runs start so that the processes it starts have the servers' core.
func (c *cores) onServers(start func() error) error {
	if !c.apart {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedSetaffinity(0, &c.server); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	err := start()
	if back := unix.SchedSetaffinity(0, &c.others); err == nil {
		err = os.NewSyscallError("sched_setaffinity", back)
	}
	return err
}
