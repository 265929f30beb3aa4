package channeltest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// standIns is the variable that names the directory in which `make test-standins`
// has installed the stand-ins that others wrote.
const standIns = "VERIFIER_STANDINS"

// beyond is what a stand-in can't do, so that our own fake alone proves it.
type beyond struct {
	channel string
	spec    string // a group of the suite, or one test of it
	why     string
}

// limits are all there are. Whatever is not listed runs against the stand-in too.
var limits = []beyond{
	{"telegram", "fault", "telegram-test-api never fails, and has no 429: the faults would be those of the test's own proxy"},
	{"telegram", "H39 a long command shows head, tail and length, and the whole beside it", "telegram-test-api knows no sendDocument"},
	{"discord", "fault", "discord-digital-twin never fails, and has no 429: the faults would be those of the test's own proxy"},
	{"discord", "H39 a long command shows head, tail and length, and the whole beside it", "discord-digital-twin drops files"},
	{"slack", "fault", "emulate never fails, and has no 429: the faults would be those of the test's own proxy"},
}

// RunStandIn is the suite against a platform that others wrote. What that one
// can't do is skipped, and says why.
func RunStandIn(t *testing.T, channel string, open func(t *testing.T) Platform) {
	t.Helper()
	installed(t)
	all := groups()
	for _, l := range limits {
		if !slices.ContainsFunc(all, l.meets) {
			t.Fatalf("%q is no test of the suite: take it off the limits", l.spec)
		}
	}
	run(t, open, all, func(group string, s spec) string {
		for _, l := range limits {
			if l.channel == channel && (l.spec == group || l.spec == s.says) {
				return l.why
			}
		}
		return ""
	})
}

// meets reports whether the group is or holds what is beyond the stand-in.
func (b beyond) meets(g group) bool {
	return g.about == b.spec || slices.ContainsFunc(g.specs, func(s spec) bool { return s.says == b.spec })
}

// installed is the directory with the stand-ins; without one the test is skipped.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(standIns)
	if dir == "" {
		t.Skip(standIns + " is not set: `make test-standins` installs the stand-ins of the platforms, and runs this")
	}
	return dir
}

// StartStandIn runs a script in Node.js until the test ends, and gives the first
// line that it prints. Its first argument is the directory with the stand-ins;
// it ends when its standard input does.
func StartStandIn(t *testing.T, script string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "node", append([]string{script, installed(t)}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the stand-in: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the stand-in does not start: %v", err)
	}
	return strings.TrimSpace(line)
}
