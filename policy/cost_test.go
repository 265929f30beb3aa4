package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
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
	p := must(f, policy.Config{Guard: ours()})
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

func TestH13AMegabyteOfNoiseIsReadInBoundedTime(t *testing.T) {
	p := must(t, policy.Config{Guard: ours()})
	for _, noise := range []func(n int) string{
		func(n int) string { return "/'" + strings.Repeat(" ", 4*n) + strings.Repeat("/..", 3*n/2) },
		func(n int) string { return strings.Repeat("%25", 3*n) },
		func(n int) string { return strings.Repeat(" 8787", 2*n) },
		func(n int) string { return strings.Repeat("0", 9*n) + "8787" },
		func(n int) string { return strings.Repeat("git ", 2*n) },
		func(n int) string { return strings.Repeat("\\x41", 2*n) },
	} {
		// Ten times the text may take ten times the time, and as much again on
		// a busy machine; what grows with the square takes a hundred times.
		tenth, whole := call("exec", quoted("command", noise(10_000))), call("exec", quoted("command", noise(100_000)))
		if small, large := timeOf(t, p, tenth), timeOf(t, p, whole); large > 40*max(small, time.Millisecond) {
			t.Errorf("%.20q…: a tenth takes %s, all of it %s", noise(10), small, large)
		}
	}
}

// TestHostileCallsCostLittle: long commands of patterns, words, braces, tests and code; many paths and texts.
func TestHostileCallsCostLittle(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{})
	roots := "find " + strings.Repeat("a ", 15000)
	var hostile []string
	for begin, part := range map[string]string{
		roots + " ": "-name x ", roots + "  ": "-regex abcd/abcd ", "find .  ": "-name x -prune -o ",
		"find " + numbered(4000): "! -name x ", "x ": "{a,b}{c,d}*/[x]* ", "find . ": "-name '*s*e*t*t*i*n*g*s*' -o ",
		"python3 -c '": "a.b/c ", "git rm ": "*a*/*b?.js* ", "find . -delete -regex '": "sett.", "rm ": "$x/*a* ",
		"cd a; cd b; cd c; cd d; x ": "a/../b ",
	} {
		command := begin + strings.Repeat(part, max(0, 60<<10-len(begin))/len(part)) + "x"
		if strings.Count(begin, "'") == 1 {
			command += "'"
		}
		hostile = append(hostile, quoted("command", command))
	}
	for _, one := range []string{
		strings.Repeat("a*/", 60), strings.Repeat("*/", 30) + "x", "~/" + strings.Repeat("**/a*/", 40),
		strings.Repeat("*a", 100), strings.Repeat("[a", 100), "{a,b}{c,d}{e,f}*/x*",
	} {
		hostile = append(hostile, quoted("command", "cat "+strings.Repeat(one+" ", 60000/(len(one)+1))))
	}
	for _, params := range hostile {
		if took := cputest.Time(func() { p.Judge(call("exec", params), at(owner)) }); took > 3*time.Second {
			t.Errorf("%.40s…: %d bytes took %s", params, len(params), took)
		}
	}
	for _, part := range []string{"a/", "a*/", "[a/", "../"} {
		long := strings.Repeat(part, 4000/len(part))
		params, err := json.Marshal(map[string]any{
			"cwd": long, "dir": long, "workdir": long, "directory": long,
			"list": slices.Repeat([]string{"x/" + part, long}, 100),
		})
		if err != nil {
			t.Fatal(err)
		}
		made := call("mcp__x__do", string(params))
		if took := cputest.Time(func() { p.Judge(made, at(owner)) }); took > 10*time.Second {
			t.Errorf("%s: %d bytes took %s", part, len(params), took)
		}
	}
}

// TestAnAgentsHooksAreFoundInLongCalls: what comes late, or is far away, is found as well.
func TestAnAgentsHooksAreFoundInLongCalls(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{})
	judged := func(tool, params string) taint.Mode {
		c := call(tool, params)
		c.Context.AgentID, c.Context.SessionKey, c.Context.Workspace = "claude-code", "", "/home/me/app"
		return p.Judge(c, at(owner)).Mode
	}
	long := "cd a; make; cd ../b; make; cd ../c; make; cd ../d; make; python3 - <<'E'\n" +
		strings.Repeat("total = compute(a, b) + c\n", 250) + "E"
	for command, want := range map[string]taint.Mode{
		"cd .claude && rm " + numbered(300) + "settings.json": confirm, "x " + numbered(5000) + ".claude": confirm,
		"rm -rf .claude; : " + numbered(12000): confirm, "rm -rf .claude; : " + strings.Repeat("{", 300): confirm,
		"x " + numbered(300) + "y": allow, long: allow,
	} {
		if got := judged("exec", quoted("command", command)); got != want {
			t.Errorf("%.60s…: %s, want %s", command, got, want)
		}
	}
	far := quoted("file_path", strings.Repeat("a/../", 2000)+".claude/settings.json")
	if got := judged("write", far); got != confirm {
		t.Errorf("a long way there: %s", got)
	}
	url := quoted("url", "https://"+strings.Repeat("é", 300)+".example/")
	if n := len([]rune(p.Plan(call("web_fetch", url)).Source)); n > 80 {
		t.Errorf("a label of %d characters", n)
	}
}

// numbered are so many words, each another one.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "f%d ", i)
	}
	return out.String()
}
