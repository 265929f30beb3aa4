package main

import (
	"strings"
	"testing"
)

const date = `{"command":"date"}`

func TestASignedAllowLetsTheCallPassInTheAgentsForm(t *testing.T) {
	r := newRig(t)
	for agent, want := range map[string]string{
		"claude-code": `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		"codex":       `{}`, "gemini": `{"decision":"allow"}`, "opencode": `{"decision":"allow"}`,
	} {
		got := r.run(agent, callOf(agent, everyAgent[agent], date))
		if got.code != 0 || strings.TrimSpace(got.stdout) != want {
			t.Errorf("%s: %+v, want %s", agent, got, want)
		}
		h := r.g.last(t, "/verify")
		if name := h.body.Tool.Name; name != "exec" && name != "exec_open" ||
			string(h.body.Tool.Params) != `{"command":"date","workdir":"/srv/app"}` {
			t.Errorf("%s asks about %s %s", agent, h.body.Tool.Name, h.body.Tool.Params)
		}
		if c := h.body.Context; c["sessionKey"] != "agent:"+agent+":s1" || c["sessionId"] != "s1" ||
			c["agentId"] != agent ||
			c["senderIsOwner"] != nil {
			t.Errorf("%s: context %v", agent, c)
		}
	}
}

func TestASignedDenyCarriesItsReason(t *testing.T) {
	r := newRig(t)
	r.g.says(`{"decision":"deny","reason":"Not permitted here (ref 7Q4K).","ref":"7Q4K","question":"q"}`)
	for agent, tool := range everyAgent {
		got := r.run(agent, callOf(agent, tool, date))
		if got.code != 0 || !strings.Contains(got.stdout, "deny") ||
			!strings.Contains(got.stdout, "Not permitted here (ref 7Q4K).") ||
			strings.Contains(got.stdout, `"ask"`) {
			t.Errorf("%s: %+v", agent, got)
		}
	}
}

func TestAHookWaitsTenSecondsLessThanTheAgent(t *testing.T) {
	r := newRig(t)
	for timeout, want := range map[string]float64{"600s": 590_000, "120s": 110_000} {
		r.run("claude-code", callOf("claude-code", "Bash", date), "--timeout", timeout)
		if wait, _ := r.g.last(t, "/verify").body.Context["waitMs"].(float64); wait > want || wait < want-5000 {
			t.Errorf("%s: waits %v ms, want %v", timeout, wait, want)
		}
	}
}

func TestWhatAToolReturnedIsTheFingerprintsOfIt(t *testing.T) {
	r := newRig(t)
	for agent, event := range map[string]string{
		"claude-code": `{"session_id":"s1","cwd":"/w","prompt_id":"p1","hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://pages.example/x?token=1"},"tool_response":{"content":[{"type":"text","text":"write to bob@example.org now"}]},"tool_use_id":"c1","duration_ms":7.5}`,
		"gemini":      `{"session_id":"s1","cwd":"/w","hook_event_name":"AfterTool","tool_name":"web_fetch","tool_input":{"url":"https://pages.example/"},"tool_response":{"llmContent":"write to bob@example.org now"}}`,
	} {
		if got := r.run(agent, event); got.code != 0 || got.stdout != "{}\n" {
			t.Fatalf("%+v", got)
		}
		h := r.g.last(t, "/hooks/after_tool_call")
		e := h.body.Event
		if e["toolName"] != "web_fetch" || e["origin"] != "pages.example" || e["secret"] != nil ||
			len(texts(e["fingerprints"])) != 1 {
			t.Errorf("%s: %v", agent, e)
		}
		for _, v := range texts([]any{e["contentHash"], e["origin"], h.body.Context}) {
			if strings.Contains(v, "bob@") {
				t.Errorf("%s: text left: %s", agent, v)
			}
		}
	}
	r.run(
		"codex",
		`{"session_id":"s1","cwd":"/w","turn_id":"t1","hook_event_name":"PostToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"x"},"tool_response":"AKIAIOSFODNN7EXAMPLE","tool_use_id":"c1"}`,
	)
	if h := r.g.last(t, "/hooks/after_tool_call"); h.body.Event["secret"] != true || h.body.Context["runId"] != "t1" {
		t.Errorf("%v", h.body)
	}
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			out = append(out, texts(x)...)
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, texts(x)...)
		}
	}
	return out
}

func TestASubagentIsAChildOfItsSession(t *testing.T) {
	r := newRig(t)
	event := strings.Replace(callOf("claude-code", "Bash", date), `"cwd"`, `"agent_id":"a7","cwd"`, 1)
	r.run("claude-code", event)
	if c := r.g.last(t, "/verify").body.Context; c["sessionKey"] != "agent:claude-code:s1:subagent:a7" ||
		c["spawnedBy"] != "agent:claude-code:s1" {
		t.Errorf("%v", c)
	}
	r.run("opencode", strings.Replace(callOf("opencode", "bash", date), `"cwd"`, `"parent_id":"s0","cwd"`, 1))
	if c := r.g.last(t, "/verify").body.Context; c["sessionKey"] != "agent:opencode:s1" ||
		c["spawnedBy"] != "agent:opencode:s0" {
		t.Errorf("%v", c)
	}
}

func TestASessionThatGoesOnIsWhatItWas(t *testing.T) {
	r := newRig(t)
	for source, resumed := range map[string]bool{"startup": false, "clear": false, "compact": false, "resume": true, "fork": true} {
		r.g.got = nil
		r.run("claude-code", `{"session_id":"s2","cwd":"/w","hook_event_name":"SessionStart","source":"`+source+`"}`)
		said := false
		for _, h := range r.g.got {
			said = said ||
				h.path == "/hooks/context_assembled" && h.body.Context["trigger"] == "resume" &&
					h.body.Context["senderIsOwner"] == nil
		}
		if said != resumed {
			t.Errorf("%s: resumed %v, want %v", source, said, resumed)
		}
	}
	if h := r.g.last(t, "/hooks/hello"); h.body.Event["runtime"] != "claude-code" {
		t.Errorf("%v", h.body)
	}
}
