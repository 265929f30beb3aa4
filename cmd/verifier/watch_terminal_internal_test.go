//go:build linux

package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// openTerminal opens a pseudo-terminal.
func openTerminal(t *testing.T) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals, as CI has: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return master, tty
}

// However it ends, the terminal is as before.
func TestWatchLeavesTheTerminalAsItWas(t *testing.T) {
	g := gw.Start(t, "")
	master, tty := openTerminal(t)
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	for how, end := range map[string]func(*exec.Cmd){
		"q":       func(*exec.Cmd) { _, _ = master.WriteString("q") },
		"Ctrl-C":  func(*exec.Cmd) { _, _ = master.WriteString("\x03") },
		"SIGTERM": func(c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(c *exec.Cmd) { _ = c.Process.Signal(os.Interrupt) },
	} {
		out := &gw.Output{}
		c := exec.CommandContext(t.Context(), "verifier", "watch", "--url", g.URL, "--state", g.State.Dir())
		c.Stdin, c.Stdout, c.Stderr = tty, out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		redistest.Eventually(t, "it watches", func() bool { return strings.Contains(out.String(), "Nothing waits.") })
		during, err := term.GetState(int(tty.Fd()))
		if err != nil || *during == *before {
			t.Errorf("%s: single keys are not read: %v", how, err)
		}
		end(c)
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", how, err, out)
		}
		after, err := term.GetState(int(tty.Fd()))
		if err != nil || *after != *before {
			t.Errorf("%s leaves the terminal changed: %v", how, err)
		}
	}
}
