package main

import (
	"strings"
	"testing"
)

// A conversation has read a page. Its key in another spelling is the same
// conversation, or one that is trusted with nothing.
func TestH139AnotherSpellingOfASessionKeyShedsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		const base = "agent:main:telegram:direct:1"
		in := func(more ...any) map[string]any {
			return with(ownerIn("telegram:direct:1"), append([]any{"sessionId", "6f1c0e5a", "agentId", "main", "waitMs", 5001}, more...)...)
		}
		send := func(context map[string]any) call { return call{tool: "message", params: tellBob, context: context} }
		r.allow(send(in()))
		r.allow(call{tool: "web_fetch", params: fetchPage, context: in()})
		r.deny(send(in()))
		for _, key := range []string{
			strings.ToUpper(base), base + ":", base + "::", base + " ", " " + base, base + " : ", "Agent:main:Telegram:direct:1",
			base + "\u200b", base + "\u00a0", base + "\u2060", base + "\ufe0f", "\ufeff" + base, base + "\u3164", "agent:main::telegram:direct:1",
			"agent:main: telegram:direct:1", "agent:main:telegr\u0430m:direct:1", "agent:main:telegram:direct:\uff11", base + "\U000e0031", ":" + base,
		} {
			r.deny(send(in("sessionKey", key)))
			r.deny(send(in("sessionKey", key, "sessionId", nil)))
			r.deny(send(in("sessionKey", "agent:main:subagent:1", "sessionId", nil, "spawnedBy", key)))
		}
		for _, id := range []string{"6F1C0E5A", " 6f1c0e5a", "6f1c0e5a:", "6f1c0e5a\u200b", "6f1c\u04340e5a", "6f1c 0e5a"} {
			r.deny(send(in("sessionId", id)))
		}
		for _, agent := range []string{"Main", " main", "main\u200b"} {
			r.deny(send(in("agentId", agent)))
		}
		// A system's own run is no better for an odd name.
		r.deny(send(map[string]any{"sessionKey": "agent:main:cron:\u200b", "trigger": "cron", "waitMs": 5001}))

		// What is sent to a session under another spelling of its key goes along.
		for i, key := range []string{"agent:main:OTHER1", "agent:main:other2:", " agent:main:other3"} {
			from, to := ownerIn("from"), strings.ToLower(strings.Trim(key, ": "))
			r.allow(send(with(ownerIn("x"), "sessionKey", to)))
			if i == 0 {
				r.allow(call{tool: "web_fetch", params: fetchPage, context: from})
			}
			pass := call{tool: "sessions_send", params: `{"sessionKey":"` + key + `","message":"hi"}`, context: from}
			r.approve(r.mustAsk(pass).Ref, 0)
			r.allow(pass)
			r.deny(send(with(ownerIn("x"), "sessionKey", to, "waitMs", 5001)))
		}
		// A key that could be another is none that it can be sent to.
		if a := r.deny(call{tool: "sessions_send", params: `{"sessionKey":"agent:main:other4\u200b","message":"hi"}`, context: ownerIn("from")}); a.Ref != "" {
			t.Errorf("a person is asked: %s", a.raw)
		}
	})
}
