package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

func spawn(parent map[string]any, child string) event {
	return event{name: "subagent_spawned", context: parent, about: fmt.Sprintf(`{"childSessionKey":"agent:main:%s"}`, child)}
}

// Through the events, as the OpenClaw plugin sends them.

func TestH16ASpawnedSessionInheritsByItsEvent(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(fetch(ownerIn("down")))
		r.takes(spawn(ownerIn("down"), "subagent:down"))
		r.mustAsk(sh("date", ownerIn("subagent:down"))) // although its own calls say nothing of a parent
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("the child is at %s", e.Level)
		}
		r.takes(spawn(ownerIn("subagent:down"), "subagent:down2"))
		r.mustAsk(sh("date", ownerIn("subagent:down2")))

		r.allow(sh("date", ownerIn("up")))
		r.takes(spawn(ownerIn("up"), "subagent:up"))
		r.allow(sh("date", ownerIn("subagent:up")))
		r.takes(returned(ownerIn("subagent:up"), "web_fetch", `,"marked":true`))
		r.mustAsk(sh("date", ownerIn("up"))) // both ways

		r.consented(fetch(ownerIn("subagent:late")), 0)
		r.allow(sh("date", ownerIn("parent-of-late")))
		r.takes(spawn(ownerIn("parent-of-late"), "subagent:late"))
		r.mustAsk(sh("date", ownerIn("parent-of-late"))) // what a child was before comes along

		r.restart()
		r.mustAsk(sh("id", ownerIn("subagent:down2")))
		r.mustAsk(sh("id", ownerIn("up")))
	})
}

// Whoever told of a fetch first, by a notice or by what it returned: no exec may
// pass by policy behind it.
func TestH17NoExecPassesAfterAFetchThatWasOnlyReported(t *testing.T) {
	onBoth(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 100_000 }, func(t *testing.T, r *rig) {
		const rounds, conversations, goroutines = 4, 4, 64
		for round := range rounds {
			start := make(chan struct{})
			var wg sync.WaitGroup
			for _, i := range rand.Perm(goroutines) {
				ctx := ownerIn(fmt.Sprintf("race-%d-%d", round, i%conversations))
				wg.Go(func() {
					<-start
					told := true
					switch i / conversations % 4 {
					case 0:
						r.notice(fetch(ctx))
					case 1:
						r.takes(returned(ctx, "web_fetch", `,"marked":true`))
					default:
						told = false
					}
					if a := r.send(impatient(sh("date", ctx))); a.status != 200 || told && a.allowed() {
						t.Errorf("exec behind what was told (%v): got %d %s", told, a.status, a.raw)
					}
				})
			}
			close(start)
			wg.Wait()
			for i := range conversations {
				r.mustAsk(sh("date", ownerIn(fmt.Sprintf("race-%d-%d", round, i))))
			}
		}
		for _, e := range r.decided() {
			if e.Tool == "exec" && e.Decision == audit.Allow && e.Level != "owner" && e.Level != "local" {
				t.Errorf("exec passed by %s at %s", e.By, e.Level)
			}
		}
	})
}

func TestH22AStrangersMessageLowersASharedSessionByItsEvent(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := with(ownerIn("main"), "sessionId", "s1")
		r.takes(census(main, `{"kind":"user_message","senderId":"1","senderIsOwner":true}`))
		r.allow(sh("date", main))
		stranger := with(main, "senderId", "9", "senderIsOwner", nil, "runId", "theirs")
		r.takes(census(stranger, `{"kind":"user_message","senderId":"9"}`)) // no tool is called
		r.mustAsk(sh("date", main))
		if e := r.last(); e.Level != "external" {
			t.Errorf("the owner's next call is at %s", e.Level)
		}
		r.takes(census(main, `{"kind":"user_message","trust":"owner","senderId":"1","senderIsOwner":true}`))
		r.restart()
		r.mustAsk(sh("id", main))
	})
}

func TestH23AWebhookThatLooksLikeCronIsNotSystemByItsEvent(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		cron := func(run string) map[string]any {
			return map[string]any{"sessionKey": "agent:main:cron:job:run:" + run, "trigger": "cron"}
		}
		good := with(cron("1"), "inputProvenance", map[string]any{"kind": "internal_system"})
		r.takes(census(good, `{"kind":"user_message"}`))
		r.allow(sh("date", good))
		for name, c := range map[string]struct {
			ctx    map[string]any
			source string
		}{
			"outside provenance": {with(cron("2"), "inputProvenance", map[string]any{"kind": "outside_content"}), `{"kind":"user_message"}`},
			"no attestation":     {map[string]any{"sessionKey": "agent:main:cron:job:run:3"}, `{"kind":"user_message"}`},
			"a hook's key":       {map[string]any{"sessionKey": "hook:6f1c", "trigger": "cron"}, `{"kind":"user_message"}`},
			"marked content":     {cron("4"), `{"kind":"user_message","trust":"untrusted"}`},
		} {
			t.Run(name, func(t *testing.T) {
				r.takes(census(c.ctx, c.source))
				// What the calls of that run say of themselves changes nothing.
				r.mustAsk(sh("date", with(c.ctx, "trigger", "cron", "inputProvenance", map[string]any{"kind": "internal_system"})))
				if e := r.last(); e.Level != "untrusted" {
					t.Errorf("it is at %s", e.Level)
				}
			})
		}
	})
}

// After a restart OpenClaw goes on with what a session was doing. That is neither
// the owner's word nor a stranger's: the session is what it was.
func TestH160ARunThatTheRuntimeResumesIsTheConversationItWas(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		resumed := func(key string) map[string]any {
			return map[string]any{"sessionKey": "agent:main:" + key, "sessionId": "s1", "runId": "again", "trigger": "resume", "inputProvenance": map[string]any{"kind": "internal_system"}}
		}
		owned := func(key string) map[string]any { return with(ownerIn(key), "sessionId", "s1") }
		r.allow(sh("date", owned("clean")))
		r.takes(census(resumed("clean"), `{"kind":"user_message"}`))
		r.allow(sh("date", resumed("clean")))
		r.allow(sh("date", owned("clean"))) // nothing came in

		r.allow(fetch(owned("tainted")))
		r.takes(census(resumed("tainted"), `{"kind":"user_message"}`))
		r.mustAsk(sh("date", resumed("tainted")))
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("a tainted conversation is at %s when it is resumed", e.Level)
		}

		r.allow(call{tool: "read", params: `{"path":"a"}`, context: map[string]any{"sessionKey": "agent:main:strangers", "sessionId": "s0", "senderId": "666"}})
		r.mustAsk(sh("date", resumed("strangers"))) // its context has another id
		r.mustAsk(sh("date", resumed("never-seen")))
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("a conversation that nothing is known of is at %s when it is resumed", e.Level)
		}
		r.mustAsk(sh("date", with(resumed("with-a-sender"), "senderId", "9")))
		r.mustAsk(sh("date", with(resumed("marked"), "inputProvenance", map[string]any{"kind": "outside_content"})))
	})
}
