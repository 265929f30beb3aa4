package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// What a rule says of a call's arguments holds for the event that tells of its
// result, too: that one names the tool alone.
func TestAResultIsWorthWhatTheRuleSaidOfItsCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Policy.Trust.Rules = []policy.TrustRule{{Tool: "web_fetch", Host: "wiki.lan.example", Level: new(taint.Local)}}
	})
	run := func(session string) call {
		return call{tool: "exec", params: `{"command":"date"}`, context: with(ownerIn(session), "waitMs", 5001)}
	}
	for i, c := range []struct {
		tool, params, returned, id string
		want                       bool
	}{
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "web_fetch", "call-1", true},
		{"message", `{"action":"send","target":"bob","text":"hi"}`, "message", "call-1", true},
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "web_fetch", "call-2", false},  // of another call
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "browser", "call-1", false},    // of another tool
		{"web_fetch", `{"url":"https://elsewhere.example/a"}`, "web_fetch", "call-1", false}, // the rule does not say so
		{"message", `{"action":"read","target":"bob"}`, "message", "call-1", false},          // reads what others wrote
	} {
		key := string(rune('a' + i))
		m := with(ownerIn(key), "toolCallId", "call-1", "runId", "run-"+key)
		r.allow(call{tool: c.tool, params: c.params, context: m})
		r.takes(event{name: "after_tool_call", about: `{"toolName":"` + c.returned + `","toolCallId":"` + c.id + `"}`, context: ownerIn(key)})
		if a := r.send(run(key)); a.allowed() != c.want {
			t.Errorf("%s %s, then the result of %s %s: %s", c.tool, c.params, c.returned, c.id, a.raw)
		}
	}
	m := with(ownerIn("z"), "toolCallId", "call-1")
	r.allow(call{tool: "web_fetch", params: `{"url":"https://wiki.lan.example/a"}`, context: m})
	r.takes(event{name: "after_tool_call", about: `{"toolName":"web_fetch","toolCallId":"call-1","marked":true}`, context: ownerIn("z")})
	if a := r.send(run("z")); a.allowed() {
		t.Errorf("what the runtime marks is at %s", taint.Untrusted)
	}
}
