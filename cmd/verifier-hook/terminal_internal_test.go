//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// onTerminal runs a hook as an agent does that has a terminal, and returns what it answers.
func onTerminal(r *rig, agent, event string) string {
	r.t.Helper()
	file := r.file("event", event)
	return agentOnTerminal(r, "BE=hook "+os.Args[0]+" "+agent+" "+strings.Join(r.flags(), " ")+" <"+file)
}

// agentOnTerminal lets an agent that has a terminal run a shell.
func agentOnTerminal(r *rig, do string) string {
	r.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		r.t.Skipf("this machine has no pseudo-terminals, as CI has: %v", err)
	}
	defer master.Close() // only for the test
	unlock := 0
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, unlock); err != nil {
		r.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		r.t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer tty.Close() // only for the test
	raw, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		r.t.Fatal(err)
	}
	raw.Lflag &^= unix.ICANON
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, raw); err != nil {
		r.t.Fatal(err)
	}
	c := exec.CommandContext(r.t.Context(), os.Args[0])
	c.Env = append([]string{"BE=agent", "DO=" + do, "HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, r.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	var out, words bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = tty, &out, &words
	if err := c.Run(); err != nil {
		r.t.Logf("%v: %s", err, words.String())
	}
	return out.String()
}
