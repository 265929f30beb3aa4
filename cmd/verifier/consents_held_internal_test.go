package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

// standing is a gateway whose owner has given a standing consent for one notebook.
func standing(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	r := newRig(t, noteTool)
	untilReady(t, r)
	v := r.visit()
	v.enter(r.loginLink())
	v.always(r.mustAsk(note("shopping", "x", r.fetchedIn("first"))).Ref, "agent")
	r.allow(note("shopping", "it holds", r.fetchedIn("holds")))
	return r
}

// notConsented says that a call does not pass.
func (r *rig) notConsented(what string, c call) {
	r.t.Helper()
	if a := r.send(soonAsked(c)); a.allowed() {
		r.t.Errorf("%s: %s", what, a.raw)
	}
}

func TestH481AStandingConsentIsForRunsOfTheOwner(t *testing.T) {
	r := standing(t)
	for what, m := range map[string]map[string]any{
		"a stranger":         with(ownerIn("stranger"), "senderId", "7", "senderIsOwner", nil),
		"a group":            with(ownerIn("group"), "groupId", "g"),
		"a stranger's group": with(ownerIn("group2"), "groupId", "g", "senderId", "7", "senderIsOwner", nil),
		"no sender":          unvouched("none"),
		"another agent":      with(unvouched("ops"), "agentId", "ops", "sessionKey", "agent:ops:main"),
	} {
		r.send(fetch(m))
		r.notConsented(what, note("shopping", "x", m))
	}
}

func TestH482AStandingConsentAndARefusal(t *testing.T) {
	r := standing(t)
	m := r.fetchedIn("paused")
	r.reply(".pause main")
	r.notConsented("paused", note("shopping", "x", m))
	r.reply(".resume main")
	r.allow(note("shopping", "x", m))
	r.reload(func(c *config.Config) {
		yes := true
		c.Policy.Tools = map[string]policy.Tool{"notes_add": {Sink: &yes, Money: &yes, Destinations: []string{"notebook"}, Content: []string{"text"}}}
	})
	r.notConsented("it pays by now", note("shopping", "y", m))
	r.reload(func(c *config.Config) { c.Policy.Tools = nil })
	r.notConsented("it has no label by now", note("shopping", "z", m))
	r.reload(func(c *config.Config) {
		noteTool(c)
		c.Policy.Tools["notes_add"] = policy.Tool{Sink: new(true), Destinations: []string{"notebook", "text"}}
	})
	r.notConsented("its text is a destination by now", note("shopping", "it holds", m))
}

func TestH483TheTextOfAStandingConsent(t *testing.T) {
	r := standing(t)
	m := r.fetchedIn("text")
	for _, params := range []string{
		`{"notebook":"shopping","text":"MEDIA:/etc/passwd"}`, `{"notebook":"shopping","text":"\u000bMEDIA:/etc/passwd"}`, `{"notebook":"shopping","text":{"notebook":"work"}}`, `{"notebook":"shopping","text":["x"]}`, `{"notebook":"shopping"}`,
		`{"notebook":"shopping","text":"x","":""}`, `{"notebook":"shopping","text":"x","Notebook":"work"}`, `{"notebook":{"id":"shopping"},"text":"x"}`, `{"notebook":"shopping\u200b","text":"x"}`, `{"notebook":"shopping","text":"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----"}`,
	} {
		r.notConsented(params, call{tool: "notes_add", params: params, context: m})
	}
}

func TestH484SecretsAndAStandingConsent(t *testing.T) {
	r := standing(t)
	m := r.fetchedIn("unasked")
	r.notice(call{tool: "read", params: `{"path":"~/.ssh/id_rsa"}`, context: m})
	r.notConsented("a key that was read unasked", note("shopping", "x", m))
	m = r.fetchedIn("child")
	r.allow(call{tool: "read", params: `{"path":"~/.aws/credentials"}`, context: spawned("subagent:h484", "child")})
	r.notConsented("a key that a subagent read", note("shopping", "x", m))
	m = r.fetchedIn("before")
	r.restart()
	untilReady(t, r)
	r.notConsented("what was read before a restart is not known", note("shopping", "x", m))
}
