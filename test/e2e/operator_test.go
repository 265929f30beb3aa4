package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

func TestH48AnUnknownKeyOrAWrongTypeDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, place, says string }{
		"a slip":             {"listen: 127.0.0.1:0\nwebhok: {}\n", ":2:1: webhok: ", `did you mean "webhook"`},
		"a slip inside":      {"webhook:\n  tolernce: 5m\n", ":2:3: webhook.tolernce: ", `did you mean "tolerance"`},
		"another case":       {"Listen: 127.0.0.1:0\n", ":1:1: Listen: ", `did you mean "listen"`},
		"a list for a text":  {"listen: [127.0.0.1]\n", ":1:9: listen: ", ""},
		"a text for a count": {"\nmaxIterations: many\n", ":2:16: maxIterations: ", ""},
		"an unknown mode":    {"taintPolicy: {external: ask}\n", ":1:25: taintPolicy.external: ", ""},
		"the same key twice": {"listen: 127.0.0.1:0\nlisten: 127.0.0.1:1\n", ":2:", ""},
		"failMode":           {"failMode: allow\n", ":1:1: failMode: ", "always denies"},
		"no YAML":            {"listen: [\n", ":", ""},
	} {
		for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"check"}} {
			printed, code := program(t, tt.text, command...)
			if code != 1 || !strings.Contains(printed, "verifier.yaml"+tt.place) ||
				!strings.Contains(printed, tt.says) {
				t.Errorf("%s: %s ended with %d\n%swant %q and %q", name, command[0], code, printed, tt.place, tt.says)
			}
		}
	}
	// A config that takes for ever to read is refused at once (H78).
	for name, bomb := range map[string]string{
		"aliases": "a: &a [x]\nb: &b [*a,*a,*a]\nlisten: *b\n", "nesting": "policies: " + strings.Repeat("[", 100_000),
		"keys": strings.Repeat("x: 1\n", 50_000), "two": "listen: 127.0.0.1:1\n---\nlisten: 0.0.0.0:1\n",
	} {
		if printed, code := program(t, bomb, "check"); code != 1 {
			t.Errorf("%s: %d\n%.200s", name, code, printed)
		}
	}
}

func TestH49ABrokenConfigLeavesTheOldOneInForce(t *testing.T) {
	t.Parallel()
	const good = "toolOverrides: {exec: {\"*\": restrict}}\n"
	g := gateway.Start(t, good)
	g.Deny(gateway.Sh("date", gateway.OwnerIn("m")))
	g.Reload("toolOverrids: {}\n")
	if said := g.Log.String(); !strings.Contains(said, "level=ERROR") ||
		!strings.Contains(said, "the config was not reloaded; the old one stays in force") {
		t.Errorf("the error is not loud:\n%s", said)
	}
	g.Deny(gateway.Sh("date", gateway.OwnerIn("m")))
	g.Reload("")
	g.Allow(gateway.Sh("date", gateway.OwnerIn("m")))
}

func TestH50ATamperedRecordIsNamedByItsFirstBadLine(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, "", func(t *testing.T, g *gateway.Gateway) {
		main := gateway.OwnerIn("main")
		for i := range 5 {
			g.Allow(read(fmt.Sprint("file-", i), main))
		}
		g.Allow(gateway.Fetch(main))
		g.Ask(gateway.Sh("date", main))
		g.Quit()
		good := slices.DeleteFunc(bytes.SplitAfter(g.Recorded(), []byte("\n")),
			func(l []byte) bool { return len(l) == 0 })
		if out, code := g.Run("audit", "verify"); code != 0 || strings.Contains(out, "would not show") {
			t.Fatalf("as it was written: exit code %d\n%s", code, out)
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
			"one letter of a path": {func(l [][]byte) [][]byte {
				l[4] = bytes.Replace(l[4], []byte("file-"),
					[]byte("fole-"), 1)
				return l
			}, 5},
			"a line removed":      {func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }, 5},
			"the first line gone": {func(l [][]byte) [][]byte { return l[1:] }, 1},
			"two lines swapped":   {func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l }, 4},
			"a line twice":        {func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[4]) }, 6},
			"a line added": {func(l [][]byte) [][]byte { return append(l, []byte("{\"kind\":\"note\"}\n")) },
				n + 1},
			"cut in a line":  {func(l [][]byte) [][]byte { l[n-1] = l[n-1][:20]; return l }, n},
			"half of it cut": {func(l [][]byte) [][]byte { return l[:n/2] }, n/2 + 1},
			"all of it cut":  {func([][]byte) [][]byte { return nil }, 1},
		} {
			copied := make([][]byte, n)
			for i := range good {
				copied[i] = bytes.Clone(good[i])
			}
			if err := os.WriteFile(g.RecordFile(), bytes.Join(tt.tamper(copied), nil), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, code := g.Run("audit", "verify"); code != 1 ||
				!strings.Contains(out, fmt.Sprintf(": line %d: ", tt.bad)) {
				t.Errorf("%s: exit code %d, want line %d in\n%s", name, code, tt.bad, out)
			}
		}
	})
}

// forged is an allow that looks as if it fitted behind a record: its number is right, and its MAC is a hash of it and
// of the line before. That needs no key.
func forged(t *testing.T, raw []byte) []byte {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	var last struct {
		Seq int    `json:"seq"`
		MAC string `json:"mac"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(
		`{"seq":%d,"kind":"decision","at":"2026-10-03T14:02:11Z","tool":"exec","decision":"allow","by":"person"`,
		last.Seq+1)
	sum := sha256.Sum256([]byte(last.MAC + "\n" + body))
	return fmt.Appendf(nil, "%s,\"mac\":\"%x\"}\n", body, sum[:16])
}

// A start does not go on behind a line that the server did not write (H123), nor in a record of another key (H153),
// with which the record is not ok either (H768).
func TestH50AStartGoesOnWithNoRecordThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	g.Allow(read("a", gateway.OwnerIn("m")))
	g.Quit()
	path, raw := g.RecordFile(), g.Recorded()
	refuses := func(words ...string) {
		t.Helper()
		out, code := g.Run("serve", "--listen", "127.0.0.1:0")
		for _, w := range words {
			if code != 1 || !strings.Contains(out, w) {
				t.Errorf("the start ended with %d, want %q in\n%s", code, w, out)
			}
		}
	}
	with := append(bytes.Clone(raw), forged(t, raw)...)
	if err := os.WriteFile(path, with, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("move them away")
	if !bytes.Equal(g.Recorded(), with) {
		t.Error("the evidence was changed")
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(g.State.Dir(), "server.key")
	own, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, bytes.Repeat([]byte("0123456789abcdef"), 4), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("begun with another key", "bring back the server's key")
	if out, code := g.Run("audit", "verify"); code != 1 || !strings.Contains(out, "begun with another key") {
		t.Errorf("with another key: %d\n%s", code, out)
	}
	if err := os.WriteFile(key, own, 0o600); err != nil {
		t.Fatal(err)
	}
	g.Begin()
	g.Allow(read("a", gateway.OwnerIn("m")))
}

// TestEveryoneMayLookAtHealthAndNobodyElseAtMore is what the operator's monitoring sees.
func TestEveryoneMayLookAtHealthAndNobodyElseAtMore(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	redistest.Eventually(t, "the gateway is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusOK,
		"/owner/pending": http.StatusUnauthorized,
		"/debug/pprof/":  http.StatusNotFound,
	} {
		if status, text := g.Page(path); status != want {
			t.Errorf("%s: got %d, want %d: %.200s", path, status, want, text)
		}
	}
}

// A store that is down at the start must not hide that the record was cut: it is compared when the store is back,
// before the new head covers the old one up.
func TestH50ARecordThatWasCutIsNoticedOnceTheStoreIsBack(t *testing.T) {
	t.Parallel()
	g := gateway.StartOnRedis(t, "")
	for range 5 {
		g.Allow(read("a", gateway.OwnerIn("m")))
	}
	g.Quit()
	lines := bytes.SplitAfter(g.Recorded(), []byte("\n"))
	if err := os.WriteFile(g.RecordFile(), bytes.Join(lines[:3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Redis.Signal(syscall.SIGSTOP)
	g.Begin()
	g.Redis.Signal(syscall.SIGCONT)
	eventually(t, "the loss is told", func() bool {
		return strings.Contains(g.Log.String(), "seen before, are missing from the end")
	})
}
