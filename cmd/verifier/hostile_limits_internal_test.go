package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	sign "github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
)

// raw posts bytes with headers given as names and values in turn.
func (r *rig) raw(body []byte, headers ...string) heard {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url+"/verify", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return exchange(r.t, client, req)
}

// signedRaw posts bytes with their right signature.
func (r *rig) signedRaw(body []byte) heard {
	r.t.Helper()
	return r.raw(body, sign.RequestHeader, sign.Sign([]byte(r.secret), body))
}

// Seed 003, "Scope Matching", row by row; where nothing is said of a tool in
// scope it is judged by the policy, which restricts all in this test. docs/decisions.md, 4:
// what is out of scope passes, and still taints.
func TestSeed003ScopeRows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row    string
		scope  policy.Scope
		denied string // the rest passes
	}{
		{"include: only listed tools are verified; all others pass through", policy.Scope{Include: []string{"exec", "write", "edit", "apply_patch"}}, "exec write edit apply_patch"},
		{"exclude: all tools are verified except those listed", policy.Scope{Exclude: []string{"process", "session_status"}}, "exec write edit apply_patch message mystery"},
		{"no scope: all tools are verified", policy.Scope{}, "exec write edit apply_patch message mystery process"},
		{"the same normalized tool names", policy.Scope{Include: []string{" BASH ", "apply-patch"}}, "exec apply_patch"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			r := newRig(t, func(c *config.Config) { c.Policy.Profile, c.Policy.Scope = "paranoid", tt.scope })
			for _, tool := range strings.Fields("exec write edit apply_patch message mystery process") {
				a := r.send(call{tool: tool, context: map[string]any{"sessionKey": "agent:main:" + tool, "senderId": "9"}})
				if want := slices.Contains(strings.Fields(tt.denied), tool); a.status != http.StatusOK || want == a.allowed() {
					t.Errorf("%s: got %s, verified should be %v", tool, a.raw, want)
				}
			}
		})
	}
	t.Run("include and exclude: config validation rejects both", func(t *testing.T) {
		code, _, stderr := shell(t, "serve", "--state", t.TempDir()+"/s", "--config", written(t, "scope: {include: [exec], exclude: [read]}\n"))
		if code != exitError || !strings.Contains(stderr, "scope: has both include and exclude: keep one") {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
	})
}

func TestSeed003OutOfScopeStillTaintsAndIsRecorded(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) { c.Policy.Scope = policy.Scope{Include: []string{"exec"}} }
	onBoth(t, edit, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.allow(call{tool: "exec", params: `{"command":"date"}`, context: main})
		r.allow(call{tool: "web_fetch", params: `{"url":"https://example.com"}`, id: "out", context: main})
		if a := r.deny(call{tool: "exec", params: `{"command":"date"}`, context: with(main, "waitMs", 5001)}); a.Ref == "" {
			t.Errorf("got %s, want to be asked", a.raw)
		}
		r.allow(call{tool: "message", params: `{"text":"hi"}`, context: main}) // out of scope: never asked
		if e := r.decisions("out")[0]; e.By != "scope" || e.RaisedTo != "untrusted" {
			t.Errorf("recorded %+v", e)
		}
	})
}

// Seed 003, "Response", from the server's side: a client never gets into the
// rows that trigger its failMode, and docs/decisions.md, 1: there is none here.
func TestSeed003ResponseRows(t *testing.T) {
	t.Parallel()
	r := newRig(t, briefly)
	main := ownerIn("main")
	for _, tt := range []struct {
		row, want string
		body      []byte
	}{
		{"decision allow: the call proceeds", "allow", call{tool: "read", params: `{"path":"a"}`, context: main}.body()},
		{"decision deny: the reason is shown", "deny", call{tool: "read", params: `{"path":"` + r.state.Dir() + `"}`, context: main}.body()},
		{"no timeout: it is answered before one", "deny", call{tool: "exec", context: map[string]any{"senderId": "9"}}.body()},
		{"no timeout: as early as the caller says", "deny", call{tool: "exec", context: map[string]any{"senderId": "9", "waitMs": 5100}}.body()},
		{"no malformed response: not even to a malformed request", "deny", []byte(`{"version":2}`)},
		{"no other status: not even for a clock", "deny", call{tool: "read", context: main, at: time.Unix(0, 0)}.body()},
	} {
		started := time.Now()
		h := r.signedRaw(tt.body)
		var a map[string]any
		if err := json.Unmarshal(h.body, &a); err != nil || h.status != http.StatusOK || a["decision"] != tt.want {
			t.Errorf("%s: got %d %s", tt.row, h.status, h.body)
		}
		reason, isText := a["reason"].(string)
		if !isText || (tt.want == "deny") != (reason != "") || len(h.body) > 64<<10 {
			t.Errorf("%s: the reason is %v", tt.row, a["reason"])
		}
		if kind := h.header.Get("Content-Type"); kind != "application/json" || h.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", tt.row, h.header)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("%s: it took %s", tt.row, took)
		}
	}
}

// Seed 003, "Response Limits": a reason has at most 500 characters, the answer
// at most 64 KB. And "Param Redaction": content is shown by its length alone.
func TestSeed003Limits(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, reason := range map[string]string{
		"short": "No.", "long": strings.Repeat("no ", 2000), "in other letters": strings.Repeat("\u043d\u0435\u0442 ", 1000), "in pictures": strings.Repeat("\U0001f6ab", 900),
	} {
		held := r.hold(call{tool: "exec", params: fmt.Sprintf(`{"command":%q}`, name), context: map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}})
		if v := r.refuse(r.waits().Ref, reason); v.Kind != "counted" {
			t.Errorf("%s: the owner is told %+v", name, v)
		}
		a := <-held
		if n := utf8.RuneCountInString(a.Reason); a.Decision != "deny" || n > 500 || len(reason) > 500 && n != 500 || !utf8.ValidString(a.Reason) {
			t.Errorf("%s: %s with a reason of %d characters", name, a.Decision, n)
		}
	}
	for tool, member := range map[string]string{"write": "content", "edit": "content", "apply_patch": "content"} {
		id := "hides-" + tool
		r.allow(call{tool: tool, params: `{"path":"a","` + member + `":"planted text"}`, id: id, context: ownerIn("main")})
		if text := string(r.decisions(id)[0].Params); strings.Contains(text, "planted") || !strings.Contains(text, "[REDACTED: 12 chars]") {
			t.Errorf("%s is recorded with %s", tool, text)
		}
	}
}
