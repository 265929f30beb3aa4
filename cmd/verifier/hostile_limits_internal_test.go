package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	sign "github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/toolcall"
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

func TestH08ABodyOverTheCapIsDeniedAndNotJudged(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	before := len(r.kept())
	for _, size := range []int{toolcall.MaxBody, 2 * toolcall.MaxBody, 8 * toolcall.MaxBody} {
		h := r.signedRaw(call{tool: "read", params: `{"path":"` + strings.Repeat("x", size) + `"}`, context: ownerIn("main")}.body())
		if h.status != http.StatusOK || !strings.Contains(string(h.body), `"decision":"deny"`) || !strings.Contains(string(h.body), "larger than 1 MiB") {
			t.Errorf("%d bytes: got %d %s", size, h.status, h.body)
		}
		if h.header.Get(sign.AnswerHeader) != "" {
			t.Error("an answer to bytes that were not authenticated is signed")
		}
	}
	if n := len(r.kept()); n != before {
		t.Error("it is in the record: anyone could fill the disk")
	}
	room := toolcall.MaxBody - len(call{tool: "read", params: `{"path":""}`, context: ownerIn("main")}.body()) - 64
	r.allow(call{tool: "read", params: `{"path":"` + strings.Repeat("x", room) + `"}`, context: ownerIn("main")})
}

// A client writes all of its body before it reads. It must get the answer then,
// and no broken connection: that would let its failMode decide, like any other
// status.
func TestH08AClientThatIsStillWritingGetsTheDeny(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 8 << 20 // more than the sockets hold
	if _, err := fmt.Fprintf(c, "POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)); err != nil {
		t.Fatalf("the server hung up: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"deny"`) {
		t.Errorf("got %d %s, %v", res.StatusCode, text, err)
	}
}

func TestH08BodiesThatNeverEndLeaveNothingBehind(t *testing.T) {
	r := newRig(t, nil)
	r.allow(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("main")})
	before := runtime.NumGoroutine()
	var conns []net.Conn
	for i := range 30 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		start := "POST /verify HTTP/1.1\r\nHost: x\r\n"
		switch i % 3 {
		case 0: // the headers never end
		case 1: // the body never comes
			start += "Content-Length: 1000000\r\n\r\n{"
		case 2: // the body never ends
			start += "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 2400)
		}
		if _, err := io.WriteString(c, start); err != nil && i%3 != 2 {
			t.Fatal(err)
		}
		if i%3 == 2 {
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("a body that never ends got no answer: %v", err)
			}
			if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"deny"`) {
				t.Errorf("got %d %s", res.StatusCode, text)
			}
			res.Body.Close()
		}
	}
	r.allow(call{tool: "read", params: `{"path":"b"}`, context: ownerIn("main")}) // others are served meanwhile
	for _, c := range conns {
		c.Close()
	}
	redistest.Eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// A client whose connection is lost while its call waits leaves no goroutine.
func TestH08CallersThatGoAwayLeaveNothingBehind(t *testing.T) {
	r := newRig(t, func(c *config.Config) { c.Webhook.Hold, c.Webhook.MaxHold = time.Minute, time.Minute })
	stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
	r.deny(call{tool: "exec", params: `{"command":"date"}`, context: with(stranger, "waitMs", 5001)})
	before := runtime.NumGoroutine()
	ctx, hangUp := context.WithCancel(t.Context())
	var held []<-chan answer
	for range 20 {
		held = append(held, r.later(ctx, call{tool: "exec", params: `{"command":"date"}`, context: stranger}.body()))
	}
	redistest.Eventually(t, "they wait", func() bool { return runtime.NumGoroutine() > before+20 })
	hangUp()
	for _, h := range held {
		<-h
	}
	redistest.Eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+2 })
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

func TestTheAnswerIsSignedForItsOwnRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	key := []byte(r.secret)
	for name, tt := range map[string]struct {
		body []byte
		id   string
	}{
		"an allow":         {call{tool: "read", params: `{"path":"a"}`, id: "one", context: ownerIn("main")}.body(), "one"},
		"a deny":           {call{tool: "read", params: `{"path":"` + r.state.Dir() + `"}`, id: "two", context: ownerIn("main")}.body(), "two"},
		"a clock":          {call{tool: "read", id: "three", at: time.Unix(0, 0)}.body(), "three"},
		"a malformed body": {[]byte(`{"version":1,"requestId":"four","tool":null}`), ""}, // what can't be read has no id
	} {
		h := r.signedRaw(tt.body)
		signature := h.header.Get(sign.AnswerHeader)
		if !sign.MatchAnswer(key, tt.id, h.body, signature) {
			t.Errorf("%s: the signature %q does not fit %s", name, signature, h.body)
		}
		flipped := bytes.Replace(h.body, []byte(`"deny"`), []byte(`"allow"`), 1)
		if sign.MatchAnswer(key, tt.id+"x", h.body, signature) || sign.MatchAnswer([]byte("an0ther5ecret"), tt.id, h.body, signature) ||
			!bytes.Equal(flipped, h.body) && sign.MatchAnswer(key, tt.id, flipped, signature) {
			t.Errorf("%s: the signature fits another request, secret or answer", name)
		}
		if got := r.raw(h.body, sign.RequestHeader, signature); got.status != http.StatusUnauthorized {
			t.Errorf("%s: the answer's signature opens the door: %d", name, got.status)
		}
	}
	for name, h := range map[string]heard{"unsigned": r.raw([]byte("{}"))} {
		if h.status != http.StatusUnauthorized || h.header.Get(sign.AnswerHeader) != "" {
			t.Errorf("%s: got %d, signed %q", name, h.status, h.header.Get(sign.AnswerHeader))
		}
	}
}
