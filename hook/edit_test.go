package hook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/hook"
)

// answers is a gateway that answers every call so.
func answers(t *testing.T, text string) string {
	t.Helper()
	return answersAsked(t, text, func(bool) {})
}

// answersAsked is one that also says whether the hook asked as one whose agent runs other arguments.
func answersAsked(t *testing.T, text string, asked func(edits bool)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m struct {
			RequestID string `json:"requestId"`
			Context   struct {
				Edits bool `json:"edits"`
			} `json:"context"`
		}
		if body, err := io.ReadAll(req.Body); err != nil || json.Unmarshal(body, &m) != nil {
			t.Errorf("the hook sent %q: %v", body, err)
		}
		asked(m.Context.Edits)
		w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), m.RequestID, []byte(text)))
		io.WriteString(w, text) //nolint:errcheck // the hook says what it got
	}))
	t.Cleanup(server.Close)
	return server.URL + "/verify"
}

// runs runs the hook of an agent that runs other arguments, for one event.
func runs(t *testing.T, agent, url, event string) (code int, said, words string) {
	t.Helper()
	return runsWith(t, agent, url, strings.Replace(event, `"session_id"`, `"edits":true,"session_id"`, 1), true)
}

// runsWith runs the hook with --edits or without.
func runsWith(t *testing.T, agent, url, event string, edits bool) (code int, said, words string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	notes := t.TempDir()
	code = hook.Run(t.Context(), hook.Options{
		Agent: agent, Edits: edits, Gateway: func() (hook.Gateway, error) { return hook.Gateway{URL: url, Secret: []byte(secret)}, nil },
		Notes: func() (string, error) { return notes, nil }, Stdin: strings.NewReader(event), Stdout: &stdout, Stderr: &stderr, Env: func(string) string { return "" },
	})
	return code, stdout.String(), stderr.String()
}

// TestH570AnAnswerWithOtherArgumentsNeverRunsTheAgentsOwn: also where it is given again and names no question, beside a dialog, and for a call that
// can't be changed there.
func TestH570AnAnswerWithOtherArgumentsNeverRunsTheAgentsOwn(t *testing.T) {
	const edited = `{"command":"ls"}`
	for _, ref := range []string{"", `,"ref":"7Q4K"`} {
		url := answers(t, `{"decision":"allow","params":`+edited+ref+`}`)
		for _, row := range []struct {
			agent, event, tool string
			runs               bool // the owner's arguments
		}{
			{"claude-code", "PreToolUse", "Bash", true}, {"claude-code", "PermissionRequest", "Bash", true}, {"claude-code", "PermissionRequest", "mcp__fs__write", false},
			{"claude-code", "PreToolUse", "AskUserQuestion", false}, {"claude-code", "PermissionRequest", "ExitPlanMode", false},
			{"codex", "PreToolUse", "Bash", true}, {"codex", "PermissionRequest", "Bash", false}, {"codex", "PreToolUse", "request_user_input", false},
			{"gemini", "BeforeTool", "run_shell_command", true}, {"gemini", "BeforeTool", "ask_user", false},
			{"opencode", "tool.execute.before", "bash", true}, {"opencode", "permission.asked", "bash", true}, {"opencode", "tool.execute.before", "question", false},
		} {
			event := fmt.Sprintf(`{"session_id":"s","cwd":"","permission_mode":"default","hook_event_name":%q,"tool_name":%q,"tool_input":{"command":"rm -rf /"},"tool_use_id":"c"}`, row.event, row.tool)
			code, said, words := runs(t, row.agent, url, event)
			runsOwners := code == 0 && strings.Contains(said, edited) && strings.Contains(said, "allow")
			refuses := code == 2 && said == "" && strings.TrimSpace(words) != ""
			if row.runs && !runsOwners || !row.runs && !refuses {
				t.Errorf("%+v, ref %q: exit code %d, %s %s", row, ref, code, said, words)
			}
		}
	}
}

// TestH647AnAgentThatIsNotKnownToRunOtherArguments: its version was not found, it is older than the one that was tried, or the plugin in opencode is
// from before. The owner can't change the call then, and such an answer runs nothing. What the agent writes into its arguments says nothing.
func TestH647AnAgentThatIsNotKnownToRunOtherArguments(t *testing.T) {
	for _, row := range []struct {
		agent, event, tool, more string
		flag, takes              bool
	}{
		{"claude-code", "PreToolUse", "Bash", "", false, false}, {"claude-code", "PermissionRequest", "Bash", "", false, false}, {"claude-code", "PreToolUse", "Bash", "", true, true},
		{"codex", "PreToolUse", "Bash", "", false, false}, {"codex", "PreToolUse", "Bash", `,"edits":true`, false, false}, {"codex", "PreToolUse", "Bash", "", true, true},
		{"gemini", "BeforeTool", "run_shell_command", "", false, false}, {"gemini", "BeforeTool", "run_shell_command", "", true, true},
		{"opencode", "tool.execute.before", "bash", "", false, false}, {"opencode", "tool.execute.before", "bash", "", true, false}, {"opencode", "permission.asked", "bash", "", true, false},
		{"opencode", "tool.execute.before", "bash", `,"edits":true`, false, true}, {"opencode", "permission.asked", "bash", `,"edits":true`, false, true},
	} {
		var asked []bool
		url := answersAsked(t, `{"decision":"allow","ref":"7Q4K","params":{"command":"ls","edits":true}}`, func(edits bool) { asked = append(asked, edits) })
		event := fmt.Sprintf(`{"session_id":"s","cwd":"","hook_event_name":%q,"tool_name":%q,"tool_input":{"command":"rm -rf /","edits":true},"tool_use_id":"c"%s}`, row.event, row.tool, row.more)
		code, said, words := runsWith(t, row.agent, url, event, row.flag)
		if len(asked) != 1 || asked[0] != row.takes {
			t.Errorf("%+v: the gateway was asked %v", row, asked)
		}
		if runs := code == 0 && strings.Contains(said, `"ls"`); runs != row.takes || !row.takes && (code != 2 || said != "" || words == "") {
			t.Errorf("%+v: exit code %d, %s %s", row, code, said, words)
		}
	}
}

// TestAnArgumentMoreOrLessIsRefusedWhereTheAgentKeepsItsOwn: Gemini CLI may lay the owner's arguments over its own, and Codex takes the command alone.
func TestAnArgumentMoreOrLessIsRefusedWhereTheAgentKeepsItsOwn(t *testing.T) {
	for _, params := range []string{`{"command":"ls","timeout":5}`, `{"description":"x"}`, `{"command":"ls"}`} {
		url := answers(t, `{"decision":"allow","ref":"7Q4K","params":`+params+`}`)
		for _, row := range []struct {
			agent, event, tool string
			runs               bool
		}{
			{"claude-code", "PreToolUse", "Bash", true}, {"opencode", "tool.execute.before", "bash", true}, {"codex", "PreToolUse", "Bash", false}, {"gemini", "BeforeTool", "run_shell_command", false},
		} {
			event := fmt.Sprintf(`{"session_id":"s","cwd":"","hook_event_name":%q,"tool_name":%q,"tool_input":{"command":"rm","description":"x"},"tool_use_id":"c"}`, row.event, row.tool)
			if code, said, words := runs(t, row.agent, url, event); (code == 0) != row.runs || strings.Contains(said, params) != row.runs {
				t.Errorf("%+v, %s: exit code %d, %s %s", row, params, code, said, words)
			}
		}
	}
}
