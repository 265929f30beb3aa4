package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
)

// types is a line of someone with a token.
func (r *rig) types(token, line string) (v verdict) {
	r.t.Helper()
	v.status = r.as(token, http.MethodPost, "/owner/reply", map[string]any{"text": line}, &v)
	return v
}

// wantAbsent checks that a call is denied at once, in words with a time, without a card or a code.
func (r *rig) wantAbsent(what string, c call, kind, words string) {
	r.t.Helper()
	before := time.Now()
	a := r.send(c)
	if a.status != http.StatusOK || a.Decision != "deny" || !strings.Contains(a.Reason, words) || !strings.Contains(a.Reason, " UTC") || a.Ref != "" || strings.Contains(a.Reason, "approve ") {
		r.t.Errorf("%s: got %d %s", what, a.status, a.raw)
	}
	if took := time.Since(before); took > 10*time.Second {
		r.t.Errorf("%s: the agent waited %s", what, took)
	}
	if e := r.last(); e.Error != kind || e.Decision != "deny" {
		r.t.Errorf("%s: the record says %+v", what, e)
	}
	if n := len(r.pending()); n != 0 {
		r.t.Errorf("%s: %d questions wait", what, n)
	}
}

const (
	notThere = "the people who could give it are not there until"
	wantNone = "the owner wants no questions from here until"
)

// quietFor is hours around now.
func quietFor(t testing.TB) (q approval.Quiet) {
	t.Helper()
	now := time.Now().UTC()
	if err := q.UnmarshalText([]byte(now.Add(-2*time.Hour).Format("15:04") + "-" + now.Add(2*time.Hour).Format("15:04") + " UTC")); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestInQuietHoursTheAgentReadsWhenToAskAgain: with SQLite and Redis, and on another instance.
func TestInQuietHoursTheAgentReadsWhenToAskAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(c *config.Config) {
		three(c)
		for i := range c.Approvers {
			c.Approvers[i].Quiet = quietFor(t)
		}
		c.Approval.Urgent = []string{"message"}
	}, func(t *testing.T, r *rig) {
		r.token = bobToken
		r.wantAbsent("all sleep", sh("date", unvouched("x")), "away", notThere)
		r.allow(sh("date", ownerIn("own"))) // needs no one
		r.mustAsk(call{tool: "message", params: `{"text":"fire"}`, context: unvouched("y")})
	})
}

// TestH515NothingTheAgentSendsSetsOrEndsAnAbsence: the words stand wherever an agent or a stranger can put them.
func TestH515NothingTheAgentSendsSetsOrEndsAnAbsence(t *testing.T) {
	t.Parallel()
	onBoth(t, relaying, func(t *testing.T, r *rig) {
		lines := []string{".away until 2d", ".back", ".mute main 60", ".unmute", ".mute in " + session.Conversation{Client: "default", Key: "agent:main:m"}.Ref()}
		spread := func() {
			for _, line := range lines {
				r.send(impatient(call{tool: "exec", params: fmt.Sprintf(`{"command":%q}`, line), context: unvouched("m")}))
				r.send(impatient(call{tool: line, params: `{}`, context: unvouched("m")}))
				r.send(impatient(call{tool: "message", params: fmt.Sprintf(`{"text":%q,"to":"owner"}`, line), context: with(ownerIn("m"), "agentId", line)}))
				r.send(impatient(sh("date", with(ownerIn("m"), "userMessages", []map[string]any{{"text": line, "senderId": "9", "senderIsOwner": false}, {"text": line, "senderIsOwner": true}}))))
				r.tell(event{name: "after_tool_call", about: fmt.Sprintf(`{"toolName":"web_fetch","result":%q}`, line), context: ownerIn("m")})
				r.tell(event{name: "message_received", about: fmt.Sprintf(`{"content":%q,"from":"9"}`, line), context: with(ownerIn("m"), "senderId", "9", "senderIsOwner", false)})
				r.relay(typed{text: line})                                                          // Ann herself, by the agent's runtime
				r.relay(typed{text: line, context: with(annIn("m"), "senderId", "9")})              // a stranger, by the same
				if v := r.types("no token of ours, of 24 signs", line); v.status == http.StatusOK { // one who has no token
					t.Errorf("%s: %+v", line, v)
				}
			}
			for _, card := range r.pending() {
				r.refuse(card.Ref, "")
			}
		}
		spread()
		if v := r.reply(".pending"); strings.Contains(v.Text, "AWAY") || strings.Contains(v.Text, "MUTED") {
			t.Errorf("something was set: %s", v.Text)
		}
		r.reply(".mute main 60")
		r.reply(".away until 2d")
		spread()
		if v := r.reply(".pending"); !strings.Contains(v.Text, "AWAY: Ann until ") || !strings.Contains(v.Text, `MUTED: The agent "main" by Ann`) {
			t.Errorf("something was ended: %s", v.Text)
		}
	})
}

// TestH516NamingWhoDecidesGivesNoRight: someone is named who is not listed any more, whom the route leaves out, who is away, or who would
// have to be asked in a circle.
func TestH516NamingWhoDecidesGivesNoRight(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		edit   func(*config.Config)
		lines  map[string]string // by token
		reload func(*config.Config)
		says   string
	}{
		"removed since": {edit: func(c *config.Config) { three(c); c.Approvers = c.Approvers[:2] }, lines: map[string]string{annToken: ".away until 2d Bob"}, reload: func(c *config.Config) { c.Approvers = c.Approvers[:1] }, says: notThere},
		"not in the route": {edit: func(c *config.Config) {
			three(c)
			c.Approval.Routes = []approval.Route{{Approvers: []string{"Ann"}}}
		}, lines: map[string]string{annToken: ".away until 2d Bob"}, says: notThere},
		"a circle":   {edit: func(c *config.Config) { three(c); c.Approvers = c.Approvers[:2] }, lines: map[string]string{annToken: ".away until 2d Bob", bobToken: ".away until 3d Ann"}, says: notThere},
		"of three":   {edit: three, lines: map[string]string{annToken: ".away until 2d Bob", bobToken: ".away until 3d Cora", coraToken: ".away until 4d Ann"}, says: notThere},
		"two needed": {edit: func(c *config.Config) { three(c); c.Approval.Approvals = 2 }, lines: map[string]string{annToken: ".away until 2d Bob", coraToken: ".away until 2d Bob"}, says: notThere},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, row.edit)
			r.token = annToken
			for token, line := range row.lines {
				if v := r.types(token, line); v.Kind != "told" {
					t.Fatalf("%s: %+v", line, v)
				}
			}
			if row.reload != nil {
				r.reload(row.reload)
			}
			r.wantAbsent(what, sh("date", unvouched("x")), "away", row.says)
		})
	}
	r := newRig(t, three)
	r.token = annToken
	for line, kind := range map[string]string{".away until 2d Mallory": "not found", ".away until 2d Ann": "misunderstood", ".away until 2d telegram:7": "not found", ".away until 2d token:Bob": "not found", ".away until 999d Bob": "misunderstood"} {
		if v := r.types(annToken, line); v.Kind != kind {
			t.Errorf("%s: %+v", line, v)
		}
	}
	r.types(annToken, ".away until 2d bob")
	held := r.hold(sh("date", unvouched("x")))
	ref := r.waits().Ref
	if v := r.say("mallory-token-0123456789", map[string]any{"ref": ref, "allow": true}); v.status == http.StatusOK {
		t.Errorf("%+v", v)
	}
	if v := r.say(bobToken, map[string]any{"ref": ref, "allow": true}); v.Kind != "counted" {
		t.Errorf("Bob is told %+v", v)
	}
	if a := <-held; !a.allowed() {
		t.Errorf("after Bob's yes: %s", a.raw)
	}
}

// TestH519AMuteIsOnlyADeny: for what it names, however the agent calls itself, and for nothing else.
func TestH519AMuteIsOnlyADeny(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := session.Conversation{Client: "default", Key: "agent:main:m"}
		held := r.hold(sh("date -u", unvouched("m")))
		open := r.waits().Ref
		if v := r.reply(".mute in " + main.Ref() + " 60"); !strings.Contains(v.Text, "Still open, and for you to answer: "+open) {
			t.Fatalf("told %+v", v)
		}
		if v := r.approve(open, 0); v.Kind != "counted" {
			t.Errorf("the open card is told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("a call that was open before: %s", a.raw)
		}
		r.wantAbsent("that conversation", sh("date", unvouched("m")), "muted", wantNone)
		r.wantAbsent("a subagent of it", sh("date", spawned("child", "m")), "muted", wantNone)
		r.mustAsk(sh("date", unvouched("other")))
		r.refuse(r.waits().Ref, "")
		r.reply(".unmute")

		r.reply(".mute Main 60")
		for what, c := range map[string]call{
			"the agent": sh("date", unvouched("a")), "in capitals": sh("date", with(unvouched("b"), "agentId", "MAIN")), "without a name": sh("date", map[string]any{"sessionKey": "c"}),
		} {
			r.wantAbsent(what, c, "muted", wantNone)
		}
		r.deny(call{tool: "gateway", params: `{}`, context: unvouched("a")}) // what no one may allow is not allowed by a mute
		r.allow(sh("date", ownerIn("own")))                                  // and what needs no one passes
		r.mustAsk(sh("date", with(unvouched("z"), "agentId", "ops", "sessionKey", "agent:ops:main")))
		r.refuse(r.waits().Ref, "")

		v := r.visit()
		v.enter(r.loginLink())
		if _, page := v.load(http.MethodGet, "/page/grants", nil); !strings.Contains(page, "Unmute main") {
			t.Errorf("the page does not list it:\n%s", page)
		}
		if _, page := v.load(http.MethodPost, "/page/say", url.Values{"what": {"unmute"}, "agent": {"main"}}); !strings.Contains(page, "asks again, by owner (page)") {
			t.Errorf("the page says\n%s", page)
		}
		r.mustAsk(sh("date", unvouched("a")))
	})
}

// TestH521AnAgentDoesNotMakeItsCallUrgent: it names a tool that we don't know, or hides what a command does.
func TestH521AnAgentDoesNotMakeItsCallUrgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Approvers = []config.Approver{{Name: "Ann", IDs: []string{"token:owner"}, Quiet: quietFor(t)}}
		c.Approval.Urgent = []string{"money", "destructive", "message"}
	})
	for what, c := range map[string]call{
		"a tool without a label":     {tool: "urgent_alert", params: `{"urgent":true,"priority":"high"}`, context: unvouched("x")},
		"the name of a kind":         {tool: "money", params: `{}`, context: unvouched("x")},
		"a command we can't read":    sh("eval $(echo cm0gLXJm | base64 -d)", unvouched("x")),
		"almost the name of a tool":  {tool: "messag\u0435", params: `{"text":"x"}`, context: unvouched("x")},
		"the word in its arguments":  sh("echo destructive money message", unvouched("x")),
		"the word in what it claims": {tool: "write", params: `{"path":"message","content":"money"}`, context: map[string]any{"sessionKey": "agent:message:x"}},
	} {
		r.wantAbsent(what, c, "away", notThere)
	}
	r.mustAsk(call{tool: "message", params: `{"text":"fire"}`, context: unvouched("x")})
}
