package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAClockIsSetInAProcessThatKnowsNothingOfIt: the wall clock jumps and comes
// back, and the monotonic one does not care.
func TestAClockIsSetInAProcessThatKnowsNothingOfIt(t *testing.T) {
	program := filepath.Join(t.TempDir(), "clock")
	if err := command(t.Context(), "go", "build", "-o", program, "./testdata/clock"); err != nil {
		t.Fatal(err)
	}
	c, err := findClockwork(program)
	if err != nil {
		t.Skipf("clocks can be moved on Linux and amd64 alone, which CI is: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	in, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signal := func(s syscall.Signal) func() {
		return func() {
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
	}
	mem, err := c.install(cmd.Process.Pid, signal(syscall.SIGSTOP), signal(syscall.SIGCONT))
	if err != nil {
		t.Skipf("this machine does not let a parent write to its child, so no clock can be moved, as in CI it can: %v", err)
	}
	defer mem.Close()
	for i, jump := range append(jumps[:len(jumps):len(jumps)], 0) {
		if err := c.set(mem, i%len(jumps)); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		var wall, ran int64
		if _, err := fmt.Fscan(out, &wall, &ran); err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		if now := time.Unix(wall, 0).Add(-jump); now.Before(before.Truncate(time.Second)) || now.After(after) {
			t.Errorf("off by %v it shows %v", jump, time.Unix(wall, 0))
		}
		if ran < 0 || ran > time.Minute.Milliseconds() {
			t.Errorf("off by %v it has run for %d ms", jump, ran)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

// TestAClocksHistory: what it showed at any moment of a time.
func TestAClocksHistory(t *testing.T) {
	h := history{{at(9.5), at(10), time.Hour}, {at(20), at(20), 0}}
	for _, c := range []struct {
		from, to, least, most float64
	}{
		{1, 2, 1, 2}, {9.6, 9.7, 9.6, 3609.7}, {9, 11, 9, 3611}, {11, 12, 3611, 3612}, {15, 25, 15, 3625}, {21, 22, 21, 22}, {9, 21, 9, 3621},
	} {
		if least, most := h.between(at(c.from), at(c.to)); !least.Equal(at(c.least)) || !most.Equal(at(c.most)) {
			t.Errorf("from %v to %v it showed %v to %v", c.from, c.to, least.Sub(noon), most.Sub(noon))
		}
	}
}
