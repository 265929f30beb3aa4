package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

// Secrets that no list of bad ones knows.
const (
	laptopSecret = "7d1c5a90b3e84f26a1d09c4e"
	phoneSecret  = "e42b8f6017c95da3308b6ef1"
)

// greeted is standard output that stops a server as soon as it serves.
type greeted struct {
	output
	stop context.CancelFunc
}

func (g *greeted) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("listens on")) {
		g.stop()
	}
	return g.output.Write(p)
}

// shell runs the program as a shell does. A server that starts is stopped at
// once and ends with 0.
func shell(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, errs := greeted{stop: cancel}, output{}
	code = run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

// written is a config file that only we can read.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verifier.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestH33AnEmptyApproverListApprovesNobody(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) { c.Approvers = []config.Approver{} }
	onBoth(t, edit, func(t *testing.T, r *rig) {
		stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
		a := r.deny(call{tool: "exec", params: `{"command":"date"}`, id: "asks", context: stranger})
		if a.Ref != "" || !strings.Contains(a.Reason, "the owner can't be asked") {
			t.Errorf("got %s, want a reason that says that nobody can be asked", a.raw)
		}
		if a.took > 2*time.Second {
			t.Errorf("it waited %s for nobody", a.took)
		}
		if e := r.decisions("asks")[0]; e.Error != "nobody" || r.asked() != 0 {
			t.Errorf("recorded %+v", e)
		}
		r.allow(call{tool: "read", params: `{"path":"a"}`, context: stranger}) // what needs nobody passes
		for name, status := range map[string]int{
			"pending": r.owner(http.MethodGet, "/owner/pending", nil, nil),
			"answer":  r.answerTo(map[string]any{"ref": "7Q4K", "allow": true}).status,
			"reply":   r.reply(".approve exec 01234567 30").status,
			"reset":   r.reply(".reset-trust 01234567").status,
		} {
			if status != http.StatusForbidden {
				t.Errorf("%s: the owner token gets %d, want 403", name, status)
			}
		}
		if status := r.owner(http.MethodGet, "/readyz", nil, nil); status != http.StatusServiceUnavailable {
			t.Errorf("ready is %d though nobody can approve", status)
		}
	})
}

func TestH33CheckAndServeSayThatNobodyCanApprove(t *testing.T) {
	t.Parallel()
	path := written(t, "ownerToken: "+phoneSecret+"\nwebhook: {secret: "+laptopSecret+"}\napprovers: []\n")
	code, stdout, stderr := shell(t, "check", "--config", path)
	if code != exitOK || !strings.Contains(stdout, ":3:1: approvers: no person can approve: every call that needs confirmation will be denied") || !strings.Contains(stdout, "0 approvers") {
		t.Errorf("check: exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = shell(t, "serve", "--config", path, "--state", filepath.Join(t.TempDir(), "s"), "--listen", "127.0.0.1:0")
	if code != exitOK || !strings.Contains(stderr, "no person can approve") || !strings.Contains(stdout, "every call that needs a person is denied") {
		t.Errorf("serve: exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestH48AnUnknownKeyOrAWrongTypeDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, place, says string }{
		"a slip":             {"listen: 127.0.0.1:0\nwebhok: {}\n", ":2:1: webhok: ", `did you mean "webhook"`},
		"a slip inside":      {"webhook:\n  tolernce: 5m\n", ":2:3: webhook.tolernce: ", `did you mean "tolerance"`},
		"another case":       {"Listen: 127.0.0.1:0\n", ":1:1: Listen: ", `did you mean "listen"`},
		"a slip of a level":  {"taintPolicy:\n  extrenal: confirm\n", ":2:3: taintPolicy.extrenal: ", `did you mean "external"`},
		"a list for a text":  {"listen: [127.0.0.1]\n", ":1:9: listen: ", ""},
		"a text for a count": {"\nmaxIterations: many\n", ":2:16: maxIterations: ", ""},
		"an unknown mode":    {"taintPolicy: {external: ask}\n", ":1:25: taintPolicy.external: ", ""},
		"a span in words":    {"webhook: {hold: a while}\n", ":1:17: webhook.hold: ", ""},
		"the same key twice": {"listen: 127.0.0.1:0\nlisten: 127.0.0.1:1\n", ":2:", ""},
		"failMode":           {"failMode: allow\n", ":1:1: failMode: ", "always denies"},
		"an anchor":          {"listen: &a 127.0.0.1:0\n", ":1:", ""},
		"no YAML":            {"listen: [\n", ":", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, tt.text)
			for _, command := range [][]string{{"serve", "--state", filepath.Join(t.TempDir(), "s"), "--listen", "127.0.0.1:0", "--config", path}, {"check", "--config", path}} {
				code, stdout, stderr := shell(t, command...)
				if code != exitError || strings.Contains(stdout, "listens on") {
					t.Errorf("%s: exit code %d\n%s%s", command[0], code, stdout, stderr)
				}
				if !strings.Contains(stderr, "error: "+path+tt.place) || !strings.Contains(stderr, tt.says) {
					t.Errorf("%s says\n%swant %q and %q", command[0], stderr, tt.place, tt.says)
				}
			}
		})
	}
}

// lines are the record's, each with its line break.
func (r *rig) lines() [][]byte {
	r.t.Helper()
	text, err := os.ReadFile(r.state.Record())
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(l []byte) bool { return len(l) == 0 })
}

func TestH50ATamperedRecordIsNamedByItsFirstBadLine(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		for i := range 5 {
			r.allow(call{tool: "read", params: fmt.Sprintf(`{"path":"file-%d"}`, i), context: main})
		}
		r.allow(call{tool: "web_fetch", params: `{"url":"https://example.com"}`, context: main})
		r.deny(call{tool: "exec", params: `{"command":"date"}`, context: with(main, "waitMs", 5001)})
		r.quit()
		file := ""
		if r.redis != nil {
			file = "store: {url: '" + r.redis.URL() + "'}\n"
		}
		verify := func() (int, string, string) {
			return shell(t, "audit", "verify", "--state", r.state.Dir(), "--config", written(t, file))
		}
		good := r.lines()
		if code, stdout, stderr := verify(); code != exitOK || strings.Contains(stdout, "would not show") {
			t.Fatalf("as it was written: exit code %d\n%s%s", code, stdout, stderr)
		}
		n := len(good)
		deny := slices.IndexFunc(good, func(l []byte) bool { return bytes.Contains(l, []byte(`"decision":"deny"`)) })
		for name, tt := range map[string]struct {
			tamper func(l [][]byte) [][]byte
			bad    int
		}{
			"a deny made an allow": {func(l [][]byte) [][]byte {
				l[deny] = bytes.Replace(l[deny], []byte(`"decision":"deny"`), []byte(`"decision":"allow"`), 1)
				return l
			}, deny + 1},
			"one letter of a path":  {func(l [][]byte) [][]byte { l[4] = bytes.Replace(l[4], []byte("file-"), []byte("fole-"), 1); return l }, 5},
			"a line removed":        {func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }, 5},
			"the first line gone":   {func(l [][]byte) [][]byte { return l[1:] }, 1},
			"two lines swapped":     {func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l }, 4},
			"a line twice":          {func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[4]) }, 6},
			"a line added":          {func(l [][]byte) [][]byte { return append(l, []byte("{\"kind\":\"note\"}\n")) }, n + 1},
			"cut in a line":         {func(l [][]byte) [][]byte { l[n-1] = l[n-1][:20]; return l }, n},
			"the last entry cut":    {func(l [][]byte) [][]byte { return l[:n-2] }, n - 1}, // behind it stands a checkpoint only
			"half of it cut":        {func(l [][]byte) [][]byte { return l[:n/2] }, n/2 + 1},
			"all but the first cut": {func(l [][]byte) [][]byte { return l[:1] }, 2},
			"all of it cut":         {func([][]byte) [][]byte { return nil }, 1},
		} {
			copied := make([][]byte, n)
			for i := range good {
				copied[i] = bytes.Clone(good[i])
			}
			if err := os.WriteFile(r.state.Record(), bytes.Join(tt.tamper(copied), nil), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := verify()
			if want := fmt.Sprintf(": line %d: ", tt.bad); code != exitError || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", name, code, want, stdout, stderr)
			}
		}
	})
}
