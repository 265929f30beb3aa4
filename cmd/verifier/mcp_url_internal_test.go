package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

const aGreeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`

// allows lets tools of the fake server pass.
func allows(c *config.Config, tools ...string) {
	yes := taint.Allow
	c.Policy.ToolOverrides = map[string]policy.Override{}
	for _, tool := range tools {
		c.Policy.ToolOverrides["mcp__fake__"+tool] = policy.Override{Any: &yes, TaintPolicy: policy.TaintPolicy{External: &yes, Untrusted: &yes}}
	}
}

// TestH271WhereAServerOnTheWebIsGone: a call ends in words, and the server gets what you say, and what it has said itself.
func TestH271WhereAServerOnTheWebIsGone(t *testing.T) {
	t.Setenv("H271_TOKEN", "h271")
	r := newRig(t, nil)
	s := newRemote(r)
	g := reaching(r, s, "--header", "Authorization: Bearer ${H271_TOKEN}")
	g.ask("initialize", aGreeting)
	g.reads("protocolVersion")
	for _, tool := range []string{"ends", "slow"} {
		id := g.call(tool, `{}`)
		g.allowOnce()
		if tool == "slow" {
			g.eventually("the server has the call", func() bool { return strings.Contains(s.saw(), `"slow"`) })
			s.CloseClientConnections()
		}
		g.denied(id, "The call may have run")
	}
	for _, want := range []string{"POST /mcp?key=1\n", "Authorization: Bearer h271", "Mcp-Session-Id: s1", "Mcp-Protocol-Version: 2025-11-25", "Mcp-Name: slow"} {
		g.says(s.saw(), want)
	}
	s.CloseClientConnections()
	s.Close()
	id := g.call("echo", `{"text":"h271"}`)
	g.allowOnce()
	g.denied(id, "can't be reached. Nothing was run")
	g.says(g.answer(g.ask("ping", "{}")), `"error"`)
}

// TestH275AServerOnTheWebSendsTheGateNowhere: a redirect is not followed.
func TestH275AServerOnTheWebSendsTheGateNowhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { allows(c, "echo") })
	s, elsewhere := newRemote(r), newRemote(r)
	g := reaching(r, s)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s.becomes(func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, elsewhere.URL, status) })
		g.denied(g.call("echo", `{"text":"h275"}`), "another address")
		g.says(g.answer(g.ask("ping", "{}")), "another address")
	}
	if saw := elsewhere.saw(); saw != "" {
		t.Errorf("the gate went elsewhere: %s", saw)
	}
}

// TestH276WhatAServerOnTheWebReturnsCounts: as one message, in a stream, or in the rest of a stream that was cut off. An
// answer to what was not asked is not passed on.
func TestH276WhatAServerOnTheWebReturnsCounts(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"other", "stream", "cut"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, startsClean)
			g := reaching(r, newRemote(r))
			g.says(g.answer(g.call(tool, `{"text":"a"}`)), "said a")
			for _, line := range g.past {
				if strings.Contains(line, "evil.example") {
					t.Errorf("the client got %s", line)
				}
			}
			id := g.call("echo", `{"text":"h276"}`)
			g.refuse(g.waits().Ref, "no")
			g.denied(id, "Denied by the owner")
		})
	}
	t.Run("what was not asked", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *config.Config) { allows(c, "early") })
		g := reaching(r, newRemote(r))
		held := g.call("echo", `{"text":"h276"}`)
		ref := g.waits().Ref
		g.says(g.answer(g.call("early", `{"id":"1","text":"b"}`)), "said b")
		g.approve(ref, 0)
		g.says(g.answer(held), "said h276")
	})
}
