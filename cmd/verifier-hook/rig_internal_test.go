package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// The test's own program is the hook as well, and an agent that runs it.
func TestMain(m *testing.M) {
	switch os.Getenv("BE") {
	case "hook":
		main()
	case "agent": // a process that is no shell and runs something
		c := exec.CommandContext(context.Background(), "sh", "-c", os.Getenv("DO"))
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if c.Run() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const secret = "0123456789abcdef-the-secret"

// gateway is a stand-in for the server. It signs the answers that a test chooses.
type gateway struct {
	*httptest.Server
	mu     sync.Mutex
	got    []heard
	answer func(w http.ResponseWriter, path, id string, body []byte) // nil: allow and accept
	text   string                                                    // of calls; "" allows
}

// heard is one request.
type heard struct {
	path string
	body struct {
		RequestID string `json:"requestId"`
		Tool      struct {
			Name   string         `json:"name"`
			Params jsontext.Value `json:"params"`
		} `json:"tool"`
		Context map[string]any `json:"context"`
		Event   map[string]any `json:"event"`
	}
}

func newGateway(t *testing.T) *gateway {
	g := &gateway{}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	h := heard{path: req.URL.Path}
	if err := json.Unmarshal(body, &h.body); err != nil || hmac.Match(req.Header.Get(hmac.RequestHeader), body, []byte(secret)) != 0 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g.mu.Lock()
	g.got = append(g.got, h)
	answer, text := g.answer, cmp.Or(g.text, `{"decision":"allow"}`)
	g.mu.Unlock()
	if answer != nil {
		answer(w, req.URL.Path, h.body.RequestID, body)
		return
	}
	if req.URL.Path != "/verify" {
		text = `{"accepted":true}`
	}
	signed(w, h.body.RequestID, text)
}

// says is what it decides from now on; "" is an allow.
func (g *gateway) says(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.text = text
}

// answers says how the gateway answers from now on; nil is a signed allow.
func (g *gateway) answers(by func(w http.ResponseWriter, path, id string, body []byte)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = by
}

func signed(w http.ResponseWriter, id, text string) {
	w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), id, []byte(text)))
	io.WriteString(w, text) //nolint:errcheck // the hook says what it got
}

// last is the last request to a path.
func (g *gateway) last(t *testing.T, path string) heard {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.got) - 1; i >= 0; i-- {
		if g.got[i].path == path {
			return g.got[i]
		}
	}
	t.Fatalf("nothing came to %s", path)
	return heard{}
}

// forget forgets what has come.
func (g *gateway) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got = nil
}

// rig runs hooks against a gateway.
type rig struct {
	t      *testing.T
	g      *gateway
	dir    string
	secret string // the file
	env    []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, g: newGateway(t), dir: t.TempDir()}
	r.secret = r.file("secret", secret+"\n")
	return r
}

func (r *rig) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// flags name the gateway.
func (r *rig) flags() []string {
	return []string{"--url", r.g.URL, "--secret-file", r.secret, "--notes", filepath.Join(r.dir, "notes")}
}

// result is how a hook ended.
type result struct {
	code           int
	stdout, stderr string
}

func (r *rig) command(agent string, flags ...string) *exec.Cmd {
	c := exec.CommandContext(r.t.Context(), os.Args[0], append([]string{agent}, flags...)...)
	c.Env = append([]string{"BE=hook", "HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, r.env...)
	return c
}

func (r *rig) run(agent, event string, more ...string) result {
	r.t.Helper()
	c := r.command(agent, append(r.flags(), more...)...)
	c.Stdin = strings.NewReader(event)
	return r.end(c)
}

func (r *rig) end(c *exec.Cmd) result {
	r.t.Helper()
	var out, words bytes.Buffer
	c.Stdout, c.Stderr = &out, &words
	err := c.Run()
	if c.ProcessState == nil {
		r.t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), words.String()}
}

// mustRefuse checks what stops a call in every agent.
func (r *rig) mustRefuse(what string, got result) {
	r.t.Helper()
	if got.code != 2 || strings.TrimSpace(got.stderr) == "" || got.stdout != "" {
		r.t.Errorf("%s: exit code %d, stdout %q, stderr %q; want 2, nothing and words", what, got.code, got.stdout, got.stderr)
	}
	if strings.Contains(got.stderr, secret) {
		r.t.Errorf("%s: the secret is among the words", what)
	}
}

// callOf is the event before a call.
func callOf(agent, tool, params string) string {
	event := map[string]string{"gemini": "BeforeTool", "opencode": "tool.execute.before"}[agent]
	return `{"session_id":"s1","transcript_path":"/t","cwd":"/srv/app","prompt_id":"p1","permission_mode":"default","hook_event_name":"` +
		cmp.Or(event, "PreToolUse") + `","tool_name":"` + tool + `","tool_input":` + params + `,"tool_use_id":"c1"}`
}

var everyAgent = map[string]string{"claude-code": "Bash", "codex": "Bash", "gemini": "run_shell_command", "opencode": "bash"}
