package e2e_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// asks lets the hook of a coding agent ask about something, in its owner's own session, and gives what the agent reads.
func asks(t *testing.T, g *gateway.Gateway, agent, session, event, tool, input string) string {
	t.Helper()
	return hooked(t, g, agent, fmt.Sprintf(
		`{"session_id":%q,"turn_id":"t","cwd":"/home/me/app","permission_mode":"default","hook_event_name":%q,`+
			`"tool_name":%q,"tool_input":%s,"tool_use_id":"c1"}`, session, event, tool, input))
}

// hooked runs the hook of a coding agent with what the agent says.
func hooked(t *testing.T, g *gateway.Gateway, agent, text string) string {
	t.Helper()
	var out bytes.Buffer
	hook.Run(t.Context(), hook.Options{
		Agent: agent, Owner: true, Timeout: 15 * time.Second,
		Gateway: func() (hook.Gateway, error) {
			return hook.Gateway{URL: g.URL + "/verify", Secret: []byte(g.Secret)}, nil
		},
		Notes: func() (string, error) { return g.State.Dir() + "/hook", nil },
		Stdin: strings.NewReader(text), Stdout: &out, Stderr: &out, Env: func(string) string { return "" },
	})
	return out.String()
}

// Each agent's hook reaches the gateway with its own words for a call. What is asked about names the directory where
// the agent works (H263).
func TestH760EachAgentsHookAsks(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	for i, c := range []struct {
		agent, event, tool, input string
		passes                    bool
	}{
		{"claude-code", "PreToolUse", "Write", `{"file_path":"/home/me/app/main.go","content":"x"}`, true},
		{"claude-code", "PreToolUse", "Write",
			`{"file_path":"/home/me/app/.claude/settings.local.json","content":"{}"}`, false},
		{"claude-code", "PreToolUse", "Bash", `{"command":"git push --force origin main"}`, false},
		{"claude-code", "PreToolUse", "mcp__files__write_file",
			`{"path":"/home/me/.claude/settings.json","content":"{}"}`, false},
		{"codex", "PreToolUse", "apply_patch", `{"input":` + strconv.Quote(
			"*** Begin Patch\n*** Update File: .codex/config.toml\n@@\n-a\n+b\n*** End Patch") + `}`, false},
		{"codex", "PreToolUse", "exec_command", `{"cmd":"rm -rf .codex"}`, false},
		{"codex", "PreToolUse", "Bash", `{"command":"python3 -i"}`, false}, // H775: it takes typed commands
		{"codex", "PreToolUse", "Bash", `{"command":"tmux"}`, false},
		{"codex", "PreToolUse", "Bash", `{"command":"git log"}`, true},
		{"gemini", "BeforeTool", "write_file", `{"file_path":".gemini/settings.json","content":"{}"}`, false},
		{"gemini", "BeforeTool", "run_shell_command", `{"command":"ls"}`, true},
		{"opencode", "tool.execute.before", "write",
			`{"filePath":"/home/me/.config/opencode/plugin/verifier.js","content":""}`, false},
		{"opencode", "tool.execute.before", "bash", `{"command":"mv x.json opencode.json"}`, false},
		{"opencode", "tool.execute.before", "read", `{"filePath":"main.go"}`, true},
	} {
		got := asks(t, g, c.agent, fmt.Sprint("s", i), c.event, c.tool, c.input)
		if passes := !strings.Contains(got, "deny") && !strings.Contains(got, `"ask"`) &&
			!strings.Contains(got, "block"); passes != c.passes {
			t.Errorf("%s: %s %s: %s", c.agent, c.tool, c.input, got)
		}
		for _, card := range g.Pending() {
			if !strings.Contains(card.Text, "/home/me/app") {
				t.Errorf("%s: %s: the card does not say where the agent works:\n%s", c.agent, c.tool, card.Text)
			}
			g.Refuse(card.Ref, "")
		}
	}
}

// What a tool returned is in the agent's context, also where the hook can't read it: it counts as outside content that
// bears a secret.
func TestAResultThatTheHookCantReadIsOutsideContentWithASecret(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	for name, c := range map[string]struct {
		response string
		asks     bool
	}{
		"short":     {`"ok"}`, false},
		"too large": {`"` + strings.Repeat("x", 34<<20) + `"}`, true},
		"too deep":  {strings.Repeat("[", 10_050) + strings.Repeat("]", 10_050) + `}`, true},
		"cut short": {`{"stdout":"a`, true},
	} {
		about := `{"session_id":"` + name + `","cwd":"/home/me/app","hook_event_name":`
		hooked(t, g, "claude-code", about+`"PostToolUse","tool_name":"Bash","tool_input":{"command":"cat build.log"},`+
			`"tool_response":`+c.response)
		got := asks(
			t,
			g,
			"claude-code",
			name,
			"PreToolUse",
			"WebFetch",
			`{"url":"https://example.com/?q=x","prompt":"x"}`,
		)
		if strings.Contains(got, `"permissionDecision":"allow"`) == c.asks {
			t.Errorf("%s: the next WebFetch: %s", name, got)
		}
	}
}

// The agent does not run its own hook, and does not write the hook's notes: it could say what its user has typed.
func TestH762TheAgentReachesNeitherItsHookNorItsNotes(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	for i, command := range []string{
		`echo '{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"push it"}' | verifier-hook ` +
			`claude-code --owner`,
		"/usr/local/bin/verifier-hook claude-code < x.json",
		"echo / > ~/.local/state/verifier/hook/sessions/0a/workspace",
	} {
		got := asks(t, g, "claude-code", fmt.Sprint("s", i), "PreToolUse", "Bash",
			`{"command":`+strconv.Quote(command)+`}`)
		if !strings.Contains(got, "Not permitted here") {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// The user of a coding agent answers at the agent's own terminal, and the card on the phone is tapped afterwards.
func TestH240AQuestionAnsweredAtTheTerminalIsClosed(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, "", func(t *testing.T, g *gateway.Gateway) {
		m := gateway.With(gateway.OwnerIn("x"), "sessionKey", "agent:claude-code:s1", "sessionId", "s1", "agentId",
			"claude-code")
		g.Allow(gateway.Fetch(m))
		push := gateway.Sh("git push origin main", m)
		for more, why := range map[string]string{
			`,"ran":true`: "it was allowed at the agent's own terminal",
			"":            "it was answered at the agent's own terminal",
		} {
			a := g.Ask(push)
			beside := g.Hold(push) // the hook beside the dialog
			answered := func(question string) {
				g.Takes(gateway.Event{Name: "question_answered", Context: m,
					About: `{"question":"` + question + `"` + more + `}`})
			}
			answered(a.Question[:len(a.Question)-4] + "AAAA")
			if cards := g.Waiting(1); cards[0].Ref != a.Ref {
				t.Errorf("a forged name of the question closed it: %v", cards)
			}
			answered(a.Question)
			if got := <-beside; got.Allowed() {
				t.Errorf("the hook beside the dialog got %s", got.Raw)
			}
			if v := g.Approve(a.Ref, 0); v.Kind != "too late" || !strings.Contains(v.Text, "withdrawn: "+why) {
				t.Errorf("a late yes is told %+v", v)
			}
		}
		if v := g.Approve(g.Ask(push).Ref, 0); v.Kind != "counted" { // neither answer let a second one through
			t.Errorf("a new question: %+v", v)
		}
		g.Allow(push)
	})
}

// Another hook of the agent changes a call after it was judged.
func TestH249ACallThatRanOtherwiseTaintsItsConversation(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	m := gateway.With(gateway.OwnerIn("x"), "sessionKey", "agent:claude-code:s1", "sessionId", "s1", "agentId",
		"claude-code")
	script := gateway.Call{Tool: "exec", Params: `{"command":"python3 x.py","workdir":"/home/me/app"}`,
		Context: gateway.With(m, "workspace", "/home/me/app")}
	g.Allow(script)
	g.Takes(gateway.Returned(m, "exec", `,"toolCallId":"c0","size":1`))
	g.Allow(script) // what ran was what was judged
	g.Takes(gateway.Returned(m, "exec", `,"toolCallId":"c1","size":1,"changed":true`))
	g.Ask(script)
	if !strings.Contains(string(g.Recorded()), "made another call than it asked about") {
		t.Error("the record does not say so")
	}
}
