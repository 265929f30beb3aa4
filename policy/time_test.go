package policy_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Eight times the text may take at most 24 times the processor's time, beyond what
// no one can measure: what a call says must not decide how long we look at it.
const (
	shortText = 8 << 10
	longer    = 8
	mostTimes = 24
	noise     = 30 * time.Millisecond
)

// FuzzH95ThePlanTakesTimeInProportion: the part stands in a command, in a message, and as a name.
func FuzzH95ThePlanTakesTimeInProportion(f *testing.F) {
	for _, s := range []string{"/proc", "/proc/", "/proc/1", "/proc/1/", "/proc/$", "/proc/$(", "/dev/tcp/a/", "/dev/tcp/$x/", "environ ", "a/../", "\\x41", "%41", "'a'", "$(", "nc 0 ", "127.1:", "://a/", "openclaw ", "ps e ", "a=b ", "~/."} {
		f.Add(s)
	}
	p := must(f, policy.Config{Guard: here()})
	f.Fuzz(func(t *testing.T, part string) {
		if part == "" || len(part) > shortText {
			return
		}
		one, all := planned(t, p, part, shortText), planned(t, p, part, longer*shortText)
		if all > noise+mostTimes*one {
			t.Errorf("%d bytes of %q take %s, %d take %s", shortText, part, one, longer*shortText, all)
		}
	})
}

// planned is the processor's time that the plans of calls with such a text take.
func planned(t *testing.T, p *policy.Policy, part string, size int) time.Duration {
	t.Helper()
	text := strings.ToValidUTF8(strings.Repeat(part, size/len(part)+1), " ")
	params, err := json.Marshal(map[string]string{"command": text, "message": text, text: part})
	if err != nil {
		t.Fatal(err)
	}
	return timeOf(t, p, call("exec", string(params)), call("message", string(params)))
}

// timeOf is the processor's time that the plans of some calls take.
func timeOf(t *testing.T, p *policy.Policy, calls ...*toolcall.Call) time.Duration {
	t.Helper()
	started := processorTime(t)
	for _, c := range calls {
		p.Plan(c)
	}
	return processorTime(t) - started
}

// processorTime is what this process has taken. The clock on the wall would count what others take.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
