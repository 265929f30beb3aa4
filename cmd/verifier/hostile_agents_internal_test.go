package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/store/redistest"
)

// The user of a coding agent answers at the agent's own terminal, and the card on the phone is tapped afterwards.
func TestH240AQuestionAnsweredAtTheTerminalIsClosed(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(with(ownerIn("terminal"), "sessionId", "s1"), "agentId", "claude-code")
		m["sessionKey"] = "agent:claude-code:s1"
		r.allow(fetch(m))
		push := sh("git push origin main", m)
		for _, c := range []struct{ more, why string }{{`,"ran":true`, "it was allowed at the agent's own terminal"}, {"", "it was answered at the agent's own terminal"}} {
			a := r.mustAsk(push)
			beside := r.hold(push) // the hook beside the dialog
			forged := a.Question[:len(a.Question)-4] + "AAAA"
			r.takes(event{name: "question_answered", context: m, about: `{"question":"` + forged + `"` + c.more + `}`})
			if cards := r.waiting(1); cards[0].Ref != a.Ref {
				t.Errorf("a forged name of the question closed it: %v", cards)
			}
			r.takes(event{name: "question_answered", context: m, about: `{"question":"` + a.Question + `"` + c.more + `}`})
			if got := <-beside; got.allowed() {
				t.Errorf("the hook beside the dialog got %s", got.raw)
			}
			if v := r.approve(a.Ref, 0); v.Kind != "too late" || !strings.Contains(v.Text, "withdrawn: "+c.why) {
				t.Errorf("a late yes is told %+v", v)
			}
			noted := false
			for _, e := range r.entries() {
				noted = noted || e.Ref == a.Ref && e.Note == "withdrawn: "+c.why
			}
			if !noted {
				t.Errorf("the record does not say that %s", c.why)
			}
		}
		ref := r.mustAsk(push).Ref // neither answer let a second one through
		if v := r.approve(ref, 0); v.Kind != "counted" {
			t.Errorf("a new question: %+v", v)
		}
		r.allow(push)
		r.soundRecord()
	})
}

// Another hook of the agent changes a call after it was judged.
func TestH249ACallThatRanOtherwiseTaintsItsConversation(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(with(ownerIn("x"), "sessionId", "s1"), "agentId", "claude-code")
		m["sessionKey"] = "agent:claude-code:s1"
		in := with(m, "workspace", "/home/me/app")
		script := call{tool: "exec", params: `{"command":"python3 x.py","workdir":"/home/me/app"}`, context: in}
		r.allow(script)
		r.takes(event{name: "after_tool_call", context: m, about: `{"toolName":"exec","toolCallId":"c0","size":1}`})
		r.allow(script) // what ran was what was judged
		for _, id := range []string{"c1", "c2"} {
			r.takes(event{name: "after_tool_call", context: m, about: `{"toolName":"exec","toolCallId":"` + id + `","size":1,"changed":true}`})
		}
		r.mustAsk(script)
		const told = "ran something else than it asked about"
		redistest.Eventually(t, "the owner is told", func() bool { return strings.Contains(r.screen.String(), told) })
		if n := strings.Count(r.screen.String(), told+": another hook"); n != 1 {
			t.Errorf("the owner is told %d times", n)
		}
		noted := 0
		for _, e := range r.entries() {
			if strings.Contains(e.Note, told) {
				noted++
			}
		}
		if noted != 2 {
			t.Errorf("the record says it %d times", noted)
		}
		r.soundRecord()
	})
}

// The agent works on several projects at once, and a call names no directory: the card says in which one it works, on every
// surface. Nothing is configured; the real hook asks.
func TestH263TheCardSaysWhereACodingAgentWorks(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	v := r.visit()
	v.enter(r.loginLink())
	for i, call := range []struct{ agent, event, tool, input, more string }{
		{"claude-code", "PreToolUse", "mcp__files__move", `{"from":"a","to":"b"}`, ""},
		{"claude-code", "PreToolUse", "Bash", `{"command":"git push"}`, ""},
		{"codex", "PreToolUse", "apply_patch", `{"command":"*** Begin Patch\n*** Add File: x.go\n+package x\n*** End Patch"}`, ""},
		{"codex", "PreToolUse", "mcp__files__move", `{"from":"a","to":"b"}`, ""},
		{"gemini", "BeforeTool", "replace", `{"file_path":"x.go","old_string":"a","new_string":"b"}`, ""},
		{"gemini", "BeforeTool", "move", `{"from":"a","to":"b"}`, `,"mcp_context":{"server_name":"files","tool_name":"move"}`},
		{"opencode", "tool.execute.before", "write", `{"filePath":"x.go","content":"package x"}`, ""},
		{"opencode", "tool.execute.before", "files_move", `{"from":"a","to":"b"}`, ""},
	} {
		session, dir := fmt.Sprintf("s%d", i), fmt.Sprintf("/home/me/project-%d", i)
		r.takes(event{name: "context_assembled", context: map[string]any{"sessionKey": "agent:" + call.agent + ":" + session, "sessionId": session, "agentId": call.agent, "senderIsOwner": true}, about: `{"sources":[{"kind":"tool_result","tool":"web_fetch"}]}`})
		r.asAgent(call.agent, fmt.Sprintf(`{"session_id":%q,"cwd":%q,"permission_mode":"default","hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":"c1"%s}`, session, dir, call.event, call.tool, call.input, call.more))
		card := r.waits()
		redistest.Eventually(t, "the question in the terminal", func() bool { return strings.Contains(r.screen.String(), "verifier pending "+card.Ref) })
		_, page := v.load(http.MethodGet, "/page/", nil)
		for where, text := range map[string]string{"the terminal": r.screen.String(), "`verifier pending`": card.Text, "the page": page} {
			if strings.Count(text, dir) != 1 {
				t.Errorf("%s %s: %s names %s %d times:\n%s", call.agent, call.tool, where, dir, strings.Count(text, dir), text)
			}
		}
		r.refuse(card.Ref, "")
	}
}
