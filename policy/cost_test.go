package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
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
	exec, message := call("exec", string(params)), call("message", string(params))
	return cputest.Time(func() { p.Plan(exec); p.Plan(message) })
}

// mostTime is the processor's time that one call may take.
const mostTime = 250 * time.Millisecond

// TestH13NoInputKeepsACoreBusy: what a call says must not decide how long we look at it.
func TestH13NoInputKeepsACoreBusy(t *testing.T) {
	p := must(t, policy.Config{Guard: ours()})
	texts := []string{
		"/'" + strings.Repeat(" ", 4e5) + strings.Repeat("/..", 15e4), strings.Repeat("0", 9e5) + "8787",
		numbered(
			130_000,
		), "python3 -c '" + strings.Repeat("a.b/c ", 15e4) + "'", "cd a; cd b; cd c; cd d; x " +
			strings.Repeat("a/../b ", 13e4),
		"find " + numbered(
			4000,
		) + strings.Repeat(
			"! -name x ",
			9e4,
		), "find . -delete -regex '" + strings.Repeat("sett.", 18e4),
		"find . " + strings.Repeat("-name '*s*e*t*t*i*n*g*s*' -o ", 35e3), "rm " + strings.Repeat("$x/*a* ", 13e4),
		"cat " + strings.Repeat(
			strings.Repeat("a*/", 60)+" ",
			1300,
		), "cat " + strings.Repeat(strings.Repeat("[a", 100)+" ", 1200),
		"cat " + strings.Repeat(
			"~/"+strings.Repeat("**/a*/", 40)+" ",
			1000,
		), "x " + strings.Repeat("{a,b}{c,d}*/[x]* ", 14e3),
	}
	for _, part := range []string{
		"a$(", "a ", "`a ", "(", "\n", "%25", " 8787", "\\x41", "a=b:c,d ", "./a/.b ", "~/*/.[a-z]*? ", "a*/[x]*{b,c} ",
		"*a*/*b?.js* ", "../.claude/", ".claude/../", "https://a.b/c ", "media:x\n",
	} {
		texts = append(texts, strings.Repeat(part, 1<<20/len(part)))
	}
	for _, text := range texts {
		for _, param := range []string{"exec command", "mcp__x__do command", "mcp__x__do thing", "message message",
			"apply_patch input", "read path"} {
			tool, name, _ := strings.Cut(param, " ")
			c := call(tool, quoted(name, text))
			c.Context.AgentID = "claude-code"
			if took := cputest.Time(func() { p.Judge(c, at(owner)) }); took > mostTime {
				t.Errorf("%s: %d bytes of %.12q take %s", param, len(text), text, took)
			}
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
		c := call("mcp__x__do", string(params))
		if took := cputest.Time(func() { p.Judge(c, at(owner)) }); took > mostTime {
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
		"rm -rf .claude; : " + numbered(12000): confirm, "x " + numbered(20000): confirm, "rm -rf .claude; : " +
			strings.Repeat("{", 300): confirm,
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

// What an automation names is raised with it: whose jobs run later is known by one spelling, and what names more than
// we follow never passes, in no time.
func TestAnAutomationNamesNoMoreThanWeFollow(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{})
	jobs := func(n int) *protocol.Call {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, `,{"agentId":" Work%d","sessionKey":"s:%d"}`, i, i)
		}
		return call("automations", `{"action":"add","jobs":[{}`+all.String()+`]}`)
	}
	began := time.Now()
	for _, n := range []int{40, 16_000} {
		if got := p.Judge(jobs(n), at(owner)).Mode; got != restrict {
			t.Errorf("%d agents: %s", n, got)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("they took %s", took)
	}
	outside := must(t, policy.Config{Scope: policy.Scope{Include: []string{"message"}}})
	if got := outside.Judge(jobs(40), at(owner)).Mode; got != restrict {
		t.Errorf("out of scope: %s", got)
	}
	plan := p.Plan(jobs(2))
	if got := fmt.Sprint(plan.Reach.Schedules); got != "[main work0 work1]" || len(plan.Reach.Sends) == 0 {
		t.Errorf("%s, %q", got, plan.Reach.Sends)
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
