package hook_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/hook"
)

const secret = "0123456789abcdef-the-secret"

// denies is a gateway that takes in every event and denies every call.
func denies(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var m struct {
		RequestID string `json:"requestId"`
	}
	text := `{"decision":"deny","reason":"No."}`
	if json.Unmarshal(body, &m) != nil || req.URL.Path != "/verify" {
		text = `{"accepted":true}`
	}
	w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), m.RequestID, []byte(text)))
	io.WriteString(w, text) //nolint:errcheck // the hook says what it got
}

// fuzz holds a hook to what it may answer where the gateway denies everything: no input makes a call pass, and none ends
// it in a way that its agent takes for a yes.
func fuzz(f *testing.F, agent, call, tool string) {
	server := httptest.NewServer(http.HandlerFunc(denies))
	f.Cleanup(server.Close)
	notes := f.TempDir()
	for _, event := range []string{call, "PermissionRequest", "PostToolUse", "AfterTool", "UserPromptSubmit", "BeforeAgent", "SessionStart", "SessionEnd", "Stop", "chat.message", "permission.asked"} {
		f.Add([]byte(`{"session_id":"s","cwd":"/w","prompt_id":"p","permission_mode":"default","hook_event_name":"` + event + `","tool_name":"` + tool +
			`","tool_input":{"command":"ls"},"tool_use_id":"c","dialog":true,"tool_response":{"a":["b",1]},"prompt":"x","source":"resume","agent_id":"a"}`))
	}
	f.Add([]byte(`{"hook_event_name":"` + call + `","tool_name":"` + tool + `","tool_input":{}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		var stdout, stderr bytes.Buffer
		code := hook.Run(t.Context(), hook.Options{
			Agent: agent,
			Gateway: func() (hook.Gateway, error) {
				return hook.Gateway{URL: server.URL + "/verify", Secret: []byte(secret)}, nil
			},
			Notes: func() (string, error) { return notes, nil },
			Stdin: bytes.NewReader(event), Stdout: &stdout, Stderr: &stderr, Env: func(string) string { return "1" },
		})
		var in struct {
			Event string `json:"hook_event_name"`
		}
		_ = json.Unmarshal(event, &in)
		switch {
		case code == 2 && stdout.Len() == 0 && strings.TrimSpace(stderr.String()) != "":
		case code != 0 || !json.Valid(stdout.Bytes()):
			t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
		case strings.Contains(stdout.String(), "allow"), (in.Event == call || in.Event == "PermissionRequest" || in.Event == "permission.asked") && !strings.Contains(stdout.String(), `"deny"`):
			t.Errorf("the gateway denies, and the hook answers %s", stdout.String())
		}
	})
}

func FuzzClaudeCode(f *testing.F) { fuzz(f, "claude-code", "PreToolUse", "Bash") }

func FuzzCodex(f *testing.F) { fuzz(f, "codex", "PreToolUse", "Bash") }

func FuzzGemini(f *testing.F) { fuzz(f, "gemini", "BeforeTool", "run_shell_command") }

func FuzzOpencode(f *testing.F) { fuzz(f, "opencode", "tool.execute.before", "bash") }
