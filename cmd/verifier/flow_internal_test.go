package main

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

func briefly(c *config.Config) { c.Webhook.Hold = 300 * time.Millisecond }

// The issue's own story: the fetch is allowed, the exec waits, a 30-minute
// grant lets the next exec pass, and nobody else profits from it.
func TestAFetchTaintsAndAGrantCoversJustItsConversation(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.allow(call{tool: "exec", params: `{"command":"date"}`, context: main})
		r.allow(call{tool: "web_fetch", params: `{"url":"https://example.com/page"}`, context: main})

		held := r.hold(call{tool: "exec", params: `{"command":"touch x"}`, context: main})
		card := r.waits()
		if v := r.approve(card.Ref, 30); v.Kind != "counted" || !strings.Contains(v.Text, "for 30 minutes") {
			t.Errorf("the owner is told %+v", v)
		}
		if a := <-held; !a.allowed() || a.Ref != card.Ref {
			t.Errorf("the held call got %s", a.raw)
		}
		r.allow(call{tool: "exec", params: `{"command":"touch -a x"}`, context: main})

		r.cfg.Webhook.Hold = 300 * time.Millisecond // for the next start only
		for name, other := range map[string]call{
			"another command":      {tool: "exec", params: `{"command":"whoami"}`, context: main},
			"another conversation": {tool: "exec", params: `{"command":"touch x"}`, context: map[string]any{"sessionKey": "agent:main:other"}},
			"another agent":        {tool: "exec", params: `{"command":"touch x"}`, context: map[string]any{"sessionKey": "main-without-agent", "agentId": "b"}},
			"another tool":         {tool: "write", params: `{"path":"a","content":"b"}`, context: main},
			"another session id":   {tool: "exec", params: `{"command":"touch x"}`, context: with(main, "sessionId", "s2", "senderIsOwner", nil)},
		} {
			other.context = with(other.context, "waitMs", 5001)
			if a := r.send(other); a.allowed() || a.Ref == "" {
				t.Errorf("%s: got %s, want to be asked", name, a.raw)
			}
		}
	})
}

func TestAWorseLevelIsAskedAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		group := with(ownerIn("telegram:group:7"), "groupId", "7")
		held := r.hold(call{tool: "exec", params: `{"command":"pwd"}`, context: group})
		r.approve(r.waits().Ref, 30)
		if a := <-held; !a.allowed() {
			t.Fatalf("the held call got %s", a.raw)
		}
		r.allow(call{tool: "exec", params: `{"command":"pwd"}`, context: group})
		r.allow(call{tool: "web_search", params: `{"query":"x"}`, context: group})
		if a := r.send(call{tool: "exec", params: `{"command":"pwd"}`, context: with(group, "waitMs", 5001)}); a.allowed() {
			t.Error("a grant given at shared covered an untrusted conversation")
		}
	})
}

func TestALateYesLetsOneIdenticalRetryThrough(t *testing.T) {
	t.Parallel()
	onBoth(t, briefly, func(t *testing.T, r *rig) {
		stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
		c := call{tool: "exec", params: `{"command":"date"}`, context: stranger}
		a := r.deny(c)
		if a.Ref == "" || !strings.Contains(a.Reason, "(ref "+a.Ref+")") {
			t.Fatalf("got %s", a.raw)
		}
		if v := r.approve(a.Ref, 0); v.Kind != "counted" {
			t.Fatalf("the owner is told %+v", v)
		}
		r.allow(c)
		if again := r.deny(c); again.Ref == "" || again.Ref == a.Ref {
			t.Errorf("want a new question, got %s", again.raw)
		}
	})
}

func TestADenyReachesTheAgentWithItsReason(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"rm -rf build"}`})
		card := r.waits()
		r.refuse(card.Ref, "Use make clean.")
		a := <-held
		if a.Decision != "deny" || a.Reason != "Denied by the owner (ref "+card.Ref+"): Use make clean." {
			t.Errorf("got %s", a.raw)
		}
		if v := r.approve(card.Ref, 0); v.Kind != "too late" || !strings.Contains(v.Text, "denied by owner") {
			t.Errorf("a late yes is told %+v", v)
		}
	})
}

func TestTypedRepliesWork(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: map[string]any{"sessionKey": "agent:main:x"}})
		card := r.waits()
		if v := r.reply(".approve write " + card.code(t)); v.Kind != "misunderstood" {
			t.Errorf("the wrong tool is told %+v", v)
		}
		if v := r.reply(".approve exec " + card.code(t) + " 30"); v.Kind != "counted" {
			t.Errorf("told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
		if v := r.reply("hello"); v.Kind != "ignored" {
			t.Errorf("small talk is told %+v", v)
		}
		if v := r.reply(".reset-trust " + card.Session); v.Kind != "told" {
			t.Errorf("reset is told %+v", v)
		}
	})
}

// A fresh process has seen nothing and expects an allow; the store knows better,
// and knows the grant too.
func TestAGrantAndTheTaintOutliveARestart(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.allow(call{tool: "web_fetch", params: `{"url":"https://example.com"}`, context: main})
		held := r.hold(call{tool: "exec", params: `{"command":"touch x"}`, context: main})
		r.approve(r.waits().Ref, 30)
		<-held
		r.quit()
		r.start()
		r.allow(call{tool: "exec", params: `{"command":"touch -a x"}`, context: main})
		if a := r.send(call{tool: "write", params: `{"path":"x"}`, context: with(main, "waitMs", 5001)}); a.allowed() {
			t.Error("the taint did not outlive the restart")
		}
	})
}
