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
	sign "github.com/openclaw-verifier/verifier/hmac"
)

// Secrets that no list of bad ones knows.
const (
	laptopSecret = "7d1c5a90b3e84f26a1d09c4e"
	phoneSecret  = "e42b8f6017c95da3308b6ef1"
	oldSecret    = "91f3c7a25e0d4b86c2f7a03d"
	bearerSecret = "5b0e9d27c8f1436aa94e7d10"
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

func TestH07AnEmptyOrPlaceholderSecretDoesNotStart(t *testing.T) {
	t.Setenv("EMPTY_SECRET", "")
	t.Setenv("GUESSABLE_SECRET", "change-me-please-1234")
	for name, text := range map[string]string{
		"empty":                 `webhook: {secret: ""}`,
		"a placeholder":         `webhook: {secret: changeme}`,
		"a long placeholder":    `webhook: {secret: your-secret-here-0123456789}`,
		"an example's variable": `webhook: {secret: "${GUESSABLE_SECRET}"}`,
		"an empty variable":     `webhook: {secret: "${EMPTY_SECRET}"}`,
		"no such variable":      `webhook: {secret: "${NO_SUCH_SECRET}"}`,
		"no such file":          `webhook: {secret: "file:missing"}`,
		"short":                 `webhook: {secret: a1b2c3d4}`,
		"one letter":            `webhook: {secret: aaaaaaaaaaaaaaaaaaaaaaaa}`,
		"an empty list":         `webhook: {secrets: []}`,
		"empty in a list":       `webhook: {secrets: [` + laptopSecret + `, ""]}`,
		"a client without":      `webhook: {clients: {laptop: []}}`,
		"a client's is empty":   `webhook: {clients: {laptop: [""]}}`,
		"the documents' vector": `webhook: {secret: docs-example-not-a-secret-0123456789}`,
		"an empty owner token":  `ownerToken: ""`,
		"a guessable token":     `ownerToken: owner-token-owner-token`,
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			code, stdout, stderr := shell(t, "serve", "--state", state, "--listen", "127.0.0.1:0", "--config", written(t, text+"\n"))
			if code != exitError || strings.Contains(stdout, "listens on") {
				t.Fatalf("it started: exit code %d\n%s%s", code, stdout, stderr)
			}
			if !strings.Contains(stderr, "error: ") || !strings.Contains(stderr, "hint: ") {
				t.Errorf("it says\n%s", stderr)
			}
			how := strings.Contains(stderr, "openssl rand -hex 32") || strings.Contains(stderr, "_SECRET a value") || strings.Contains(stderr, "set NO_SUCH_SECRET")
			if !how {
				t.Errorf("it does not say how to make one:\n%s", stderr)
			}
			if _, err := os.Stat(state); err == nil {
				t.Error("a refused start left a state directory")
			}
		})
	}
}

func TestH07ADamagedSecretInTheStateDirectoryDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"emptied": "", "a placeholder": "changeme", "short": "abc"} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "webhook.secret"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := shell(t, "serve", "--state", dir, "--listen", "127.0.0.1:0")
		if code != exitError || strings.Contains(stdout, "listens on") || !strings.Contains(stderr, "so that serve makes a new one") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, stdout, stderr)
		}
	}
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

// clients gives two runtimes a secret of their own each; the laptop's is being
// replaced.
func clients(c *config.Config) {
	c.Webhook.Clients = map[string][]config.Secret{
		"laptop": {config.NewSecret(laptopSecret), config.NewSecret(oldSecret)}, "phone": {config.NewSecret(phoneSecret)},
	}
}

// by is the same gateway, asked with another secret.
func (r *rig) by(secret string) *rig {
	other := *r
	other.secret = secret
	return &other
}

func TestTwoClientsShareNeitherTaintNorGrantsNorReplays(t *testing.T) {
	t.Parallel()
	onBoth(t, clients, func(t *testing.T, r *rig) {
		laptop, phone, main := r.by(laptopSecret), r.by(phoneSecret), ownerIn("main")
		date := call{tool: "exec", params: `{"command":"date"}`, context: main}
		laptop.allow(call{tool: "web_fetch", params: `{"url":"https://example.com"}`, id: "same", context: main})
		phone.allow(date) // the laptop's taint is not the phone's
		phone.allow(call{tool: "read", params: `{"path":"a"}`, id: "same", context: main})

		held := laptop.hold(date)
		if a := laptop.approve(r.waits().Ref, 30); a.Kind != "counted" {
			t.Fatalf("told %+v", a)
		}
		if a := <-held; !a.allowed() {
			t.Fatalf("got %s", a.raw)
		}
		laptop.allow(date)
		phone.allow(call{tool: "web_fetch", params: `{"url":"https://example.com"}`, context: main})
		date.context = with(main, "waitMs", 5001)
		if a := phone.deny(date); a.Ref == "" { // nor is its grant
			t.Errorf("got %s, want to be asked", a.raw)
		}
		// A yes for the phone's call is not the laptop's, though all else is the same.
		ls := call{tool: "process", params: `{"action":"clear","sessionId":"p1"}`, context: with(main, "waitMs", 5001)}
		a := phone.deny(ls)
		phone.approve(a.Ref, 0)
		if b := laptop.deny(ls); b.Ref == "" || b.Ref == a.Ref {
			t.Errorf("the laptop got %s", b.raw)
		}
		phone.allow(ls)
	})
}

func TestH06OldAndNewSecretAreOneClientWhileBothAreConfigured(t *testing.T) {
	t.Parallel()
	onBoth(t, clients, func(t *testing.T, r *rig) {
		now, before, main := r.by(laptopSecret), r.by(oldSecret), ownerIn("main")
		before.allow(call{tool: "exec", params: `{"command":"date"}`, context: main})
		body := call{tool: "web_fetch", params: `{"url":"https://example.com"}`, id: "one", context: main}.body()
		for secret, rig := range map[string]*rig{oldSecret: before, laptopSecret: now} {
			h := rig.signedRaw(body) // signed anew, it is the same request
			if !sign.MatchAnswer([]byte(secret), "one", h.body, h.header.Get(sign.AnswerHeader)) || !strings.Contains(string(h.body), `"allow"`) {
				t.Errorf("got %d %s, signed with the wrong secret", h.status, h.body)
			}
		}
		if a := now.deny(call{tool: "exec", params: `{"command":"date"}`, context: with(main, "waitMs", 5001)}); a.Ref == "" {
			t.Errorf("the conversation is another one under the new secret: %s", a.raw)
		}
		r.quit()
		r.cfg.Webhook.Clients["laptop"] = r.cfg.Webhook.Clients["laptop"][:1]
		r.start()
		now, before = r.by(laptopSecret), r.by(oldSecret)
		if a := before.send(call{tool: "read", params: `{"path":"a"}`, context: main}); a.status != http.StatusUnauthorized {
			t.Errorf("the removed secret gets %d %s", a.status, a.raw)
		}
		now.allow(call{tool: "read", params: `{"path":"a"}`, context: main})
		if a := r.by(phoneSecret).send(call{tool: "read", params: `{"path":"a"}`, context: main}); !a.allowed() {
			t.Errorf("the other client gets %s", a.raw)
		}
	})
}

func TestTheBearerIsNeededBesidesTheSignature(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.Bearer = config.NewSecret(bearerSecret) })
	body := call{tool: "read", params: `{"path":"a"}`, context: ownerIn("main")}.body()
	signature := sign.Sign([]byte(r.secret), body)
	for name, tt := range map[string]struct {
		headers []string
		want    int
	}{
		"signature alone": {[]string{sign.RequestHeader, signature}, 401},
		"bearer alone":    {[]string{"Authorization", "Bearer " + bearerSecret}, 401},
		"another bearer":  {[]string{sign.RequestHeader, signature, "Authorization", "Bearer " + r.token}, 401},
		"both":            {[]string{sign.RequestHeader, signature, "Authorization", "Bearer " + bearerSecret}, 200},
	} {
		if h := r.raw(body, tt.headers...); h.status != tt.want {
			t.Errorf("%s: got %d %s, want %d", name, h.status, h.body, tt.want)
		}
	}
	if status := r.as(bearerSecret, http.MethodGet, "/owner/pending", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("the clients' bearer opens the owner's door: %d", status)
	}
}
