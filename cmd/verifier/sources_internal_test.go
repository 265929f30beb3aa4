package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
)

func refOf(key string) string {
	return session.Conversation{Client: config.DefaultClient, Key: "agent:main:" + key}.Ref()
}

// Sources are listed, and no word of the owner's takes one out: only a reset lowers the level.
func TestH21WhatCameInIsListedAndCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("v"), "waitMs", 5001, "sessionId", "s1")
		run := func() call { return call{tool: "exec", params: `{"command":"date"}`, context: m} }
		fetch := func(host string) call {
			return call{tool: "web_fetch", params: `{"url":"https://` + host + `/page"}`, context: m}
		}
		r.allow(fetch("wiki.example"))
		// The event that tells of the result is of the same source.
		r.takes(event{name: "after_tool_call", about: `{"toolName":"web_fetch","origin":"wiki.example"}`, context: with(ownerIn("v"), "sessionId", "s1")})
		r.allow(fetch("evil.example"))
		r.allow(fetch("wiki.example"))
		r.send(call{tool: "read", params: `{"path":"a"}`, context: with(m, "senderId", "9", "senderIsOwner", nil)})
		r.deny(run())
		ref := refOf("v")
		list := r.reply(".sources " + ref)
		for _, want := range []string{`"web_fetch wiki.example"  untrusted  since`, `"web_fetch evil.example"  untrusted`, `"someone other than the owner wrote"  external`, ref + " is at untrusted"} {
			if list.Kind != "told" || strings.Count(list.Text, want) != 1 {
				t.Fatalf("listed: %s", list.Text)
			}
		}
		if v := r.reply(".sources ABCDEF12"); v.Kind != "not found" {
			t.Errorf("%+v", v)
		}
		r.quit()
		r.start() // it outlives the process
		r.deny(run())
		r.reply(".reset-trust " + ref)
		r.allow(run())
	})
}
