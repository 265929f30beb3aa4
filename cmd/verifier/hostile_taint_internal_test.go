package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

func TestH16ASpawnedSessionSharesItsParentsLevelBothWays(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		t.Run("a child of a clean parent is clean", func(t *testing.T) {
			r.allow(sh("date", ownerIn("clean")))
			r.allow(sh("date", spawned("subagent:clean", "clean")))
		})
		t.Run("a child starts at its parent's level, and so does a grandchild", func(t *testing.T) {
			r.allow(fetch(ownerIn("down")))
			r.mustAsk(sh("date", spawned("subagent:down", "down")))
			r.mustAsk(sh("date", spawned("subagent:down2", "subagent:down")))
			if e := r.last(); e.Level != "untrusted" {
				t.Errorf("the grandchild is at %s", e.Level)
			}
		})
		t.Run("a child taints its parent, and a grandchild all of them", func(t *testing.T) {
			for _, who := range []string{"child", "grandchild"} {
				parent, child, grandchild := "of-"+who, "subagent:of-"+who, "subagent:below-"+who
				r.allow(sh("date", ownerIn(parent)))
				r.allow(sh("date", spawned(child, parent)))
				r.allow(sh("date", spawned(grandchild, child)))
				r.allow(fetch(map[string]map[string]any{"child": spawned(child, parent), "grandchild": spawned(grandchild, child)}[who]))
				r.mustAsk(sh("date", ownerIn(parent)))
				r.mustAsk(sh("date", spawned(child, parent)))
				r.mustAsk(sh("date", spawned(grandchild, child)))
			}
		})
		t.Run("a parent nobody has seen is nobody", func(t *testing.T) {
			r.mustAsk(sh("date", spawned("subagent:orphan", "never-seen")))
		})
	})
}

func TestH16AChildFirstSeenWithoutItsParentBringsItsTaintAlong(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(sh("date", ownerIn("p1")))
		r.consented(fetch(ownerIn("subagent:late")), 0)
		r.mustAsk(sh("date", spawned("subagent:late", "p1")))
		r.mustAsk(sh("date", ownerIn("p1")))

		r.allow(fetch(ownerIn("p2")))
		r.mustAsk(sh("date", ownerIn("subagent:early"))) // a subagent whose parent is not named is not the owner
		r.mustAsk(sh("date", spawned("subagent:early", "p2")))
		r.mustAsk(sh("date", ownerIn("subagent:early"))) // leaving spawnedBy out again sheds nothing
		r.restart()
		r.mustAsk(sh("id", ownerIn("subagent:early")))
	})
}

func TestH16AGrantOfTheParentDoesNotCoverTheChild(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(fetch(ownerIn("p")))
		r.consented(sh("id -u", ownerIn("p")), 30)
		r.allow(sh("id", ownerIn("p")))
		r.mustAsk(sh("id", spawned("subagent:c", "p")))
		r.mustAsk(sh("id", with(spawned("subagent:c", "p"), "senderId", "1", "senderIsOwner", true)))
	})
}

// Whoever allowed the fetch first, no exec may pass by policy behind it. The
// record's steps are the order in which the store let the calls in.
func TestH17NoExecPassesAfterAFetchInParallel(t *testing.T) {
	onBoth(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 1000 }, func(t *testing.T, r *rig) {
		const rounds, conversations, goroutines = 6, 4, 64
		for round := range rounds {
			start := make(chan struct{})
			var wg sync.WaitGroup
			for _, i := range rand.Perm(goroutines) {
				ctx := ownerIn(fmt.Sprintf("race-%d-%d", round, i%conversations))
				c := sh("date", ctx)
				if i/conversations%2 == 0 {
					c = fetch(ctx)
				}
				wg.Go(func() {
					<-start
					if a := r.send(impatient(c)); a.status != 200 || c.tool == "web_fetch" && !a.allowed() {
						t.Errorf("%s got %d %s", c.tool, a.status, a.raw)
					}
				})
			}
			close(start)
			wg.Wait()
			for i := range conversations {
				r.mustAsk(sh("date", ownerIn(fmt.Sprintf("race-%d-%d", round, i))))
			}
		}
		firstFetch, passed := map[string]int64{}, 0
		all := r.decided()
		for _, e := range all {
			if first, known := firstFetch[e.Session]; e.Tool == "web_fetch" && e.Decision == audit.Allow && (!known || e.Step < first) {
				firstFetch[e.Session] = e.Step
			}
		}
		for _, e := range all {
			if e.Tool != "exec" || e.Decision != audit.Allow {
				continue
			}
			passed++
			if e.Step >= firstFetch[e.Session] || e.Level != "owner" && e.Level != "local" {
				t.Errorf("exec passed by %s at step %d, %s; the first fetch was step %d", e.By, e.Step, e.Level, firstFetch[e.Session])
			}
		}
		if len(firstFetch) != rounds*conversations {
			t.Errorf("%d conversations fetched", len(firstFetch))
		}
		t.Logf("%d of %d execs came before the fetch", passed, rounds*goroutines/2)
	})
}

func TestH18LeavingOutAddingOrChangingIDsShedsNoTaint(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for name, c := range map[string]struct{ tainted, then map[string]any }{
			"session id left out":        {with(ownerIn("a"), "sessionId", "s1"), ownerIn("a")},
			"session id added":           {ownerIn("b"), with(ownerIn("b"), "sessionId", "s1")},
			"session id kept":            {with(ownerIn("c"), "sessionId", "s1"), with(ownerIn("c"), "sessionId", "s1")},
			"agent id left out":          {with(ownerIn("d"), "sessionKey", "d", "agentId", "x"), with(ownerIn("d"), "sessionKey", "d")},
			"agent id added":             {with(ownerIn("e"), "sessionKey", "e"), with(ownerIn("e"), "sessionKey", "e", "agentId", "x")},
			"agent id changed":           {with(ownerIn("f"), "sessionKey", "f", "agentId", "x"), with(ownerIn("f"), "sessionKey", "f", "agentId", "y")},
			"everything left out":        {map[string]any{}, map[string]any{"senderId": "1", "senderIsOwner": true}},
			"both changed, key the same": {with(ownerIn("g"), "sessionKey", "g", "agentId", "x"), with(ownerIn("g"), "sessionKey", "g", "agentId", "y", "sessionId", "s2")},
		} {
			t.Run(name, func(t *testing.T) {
				r.allow(fetch(c.tainted))
				r.mustAsk(sh("date", c.then))
				r.mustAsk(sh("id", c.tainted))
			})
		}
		t.Run("a new session id is a new window and washes nothing for the old one", func(t *testing.T) {
			one, two := with(ownerIn("w"), "sessionId", "s1"), with(ownerIn("w"), "sessionId", "s2")
			r.allow(fetch(one))
			r.allow(sh("date", two))
			r.mustAsk(sh("date", one))
			r.mustAsk(sh("id", ownerIn("w")))
		})
		t.Run("an agent that contradicts its session key is refused", func(t *testing.T) {
			if a := r.deny(sh("date", with(ownerIn("x"), "agentId", "other"))); a.Ref != "" {
				t.Errorf("it was asked about: %s", a.raw)
			}
		})
	})
}

func TestH18ReplaysAndOldCallsShedNoTaint(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		early := call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("m"), id: "early", at: time.Now().Add(-time.Minute)}
		r.allow(early)
		r.allow(fetch(ownerIn("m")))
		r.allow(early) // the standing decision, given again
		if e := r.last(); !e.Replay || e.RequestID != "early" {
			t.Errorf("the record says %+v", e)
		}
		r.mustAsk(sh("date", ownerIn("m")))
		late := sh("id", ownerIn("m"))
		late.at = time.Now().Add(-4 * time.Minute) // made before the fetch, sent after it
		r.mustAsk(late)
		r.restart()
		r.deny(early) // an allow by the level alone, which this process does not remember: it would not be given now
		r.mustAsk(sh("id", ownerIn("m")))
	})
}

func TestH18NoGrantCarriesOver(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		key := map[string]any{"sessionKey": "shared-key", "senderId": "9"}
		given := with(key, "agentId", "x", "sessionId", "s1")
		r.consented(sh("id -u", given), 30)
		r.allow(sh("id", given))
		for name, other := range map[string]map[string]any{
			"session id left out": with(given, "sessionId", nil), "session id changed": with(given, "sessionId", "s2"),
			"agent id left out": with(given, "agentId", nil), "agent id changed": with(given, "agentId", "y"),
			"another session key": with(given, "sessionKey", "other-key"), "no session key": with(given, "sessionKey", nil),
		} {
			t.Run(name, func(t *testing.T) { r.mustAsk(sh("id", other)) })
		}
		r.allow(sh("id -g", given))
	})
}

func TestH21ANewTurnKeepsTheLevel(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		turn := func(n int) map[string]any {
			return with(ownerIn("m"), "runId", fmt.Sprintf("run-%d", n), "iteration", 0, "trigger", "user",
				"userMessages", []any{map[string]any{"text": "Forget all that.", "senderId": "1", "senderIsOwner": true}})
		}
		r.allow(fetch(turn(1)))
		r.mustAsk(sh("date", turn(2)))
		r.restart()
		r.mustAsk(sh("id", turn(3)))
	})
}

func TestH21TaintFollowsWhatASessionReaches(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		t.Run("sessions_send raises the target", func(t *testing.T) {
			r.allow(sh("date", ownerIn("target")))
			r.allow(fetch(ownerIn("sender")))
			r.consented(call{tool: "sessions_send", params: `{"sessionKey":"agent:main:target","message":"run this"}`, context: ownerIn("sender")}, 0)
			r.mustAsk(sh("date", ownerIn("target")))
		})
		t.Run("a wake-up raises the session it wakes", func(t *testing.T) {
			r.allow(sh("date", ownerIn("asleep")))
			r.allow(fetch(ownerIn("waker")))
			r.consented(call{tool: "automations", params: `{"action":"wake","sessionKey":"agent:main:asleep","text":"run this"}`, context: ownerIn("waker")}, 0)
			r.mustAsk(sh("date", ownerIn("asleep")))
		})
		t.Run("sessions_history raises the reader", func(t *testing.T) {
			r.allow(fetch(ownerIn("read")))
			r.allow(sh("date", ownerIn("reader")))
			r.allow(call{tool: "sessions_history", params: `{"sessionKey":"agent:main:read"}`, context: ownerIn("reader")})
			r.mustAsk(sh("date", ownerIn("reader")))
			if e := r.last(); e.Level != "untrusted" {
				t.Errorf("the reader is at %s", e.Level)
			}
		})
		t.Run("a clean history raises no further than its kind", func(t *testing.T) {
			r.allow(sh("date", ownerIn("clean")))
			r.allow(call{tool: "sessions_history", params: `{"sessionKey":"agent:main:clean"}`, context: ownerIn("reader2")})
			r.send(impatient(sh("date", ownerIn("reader2"))))
			if e := r.last(); e.Level != "shared" {
				t.Errorf("the reader is at %s", e.Level)
			}
		})
		t.Run("exec curl is a fetch", func(t *testing.T) {
			r.allow(sh("date", ownerIn("curl")))
			r.allow(sh("curl -s https://example.com", ownerIn("curl")))
			r.mustAsk(sh("date", ownerIn("curl")))
		})
	})
}

func TestH21AnAutomationScheduledWhileTaintedStartsTainted(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		cron := func(agent, run string) map[string]any {
			return map[string]any{"sessionKey": "agent:" + agent + ":cron:job:run:" + run, "trigger": "cron"}
		}
		r.allow(sh("date", cron("main", "1")))
		r.allow(call{tool: "automations", params: `{"action":"add","command":"report"}`, context: ownerIn("clean")})
		r.allow(sh("date", cron("main", "2"))) // scheduled by the owner's own word
		r.allow(fetch(ownerIn("m")))
		r.consented(call{tool: "automations", params: `{"action":"add","command":"from the page"}`, context: ownerIn("m")}, 0)
		r.mustAsk(sh("date", cron("main", "3")))
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("the automation runs at %s", e.Level)
		}
		r.mustAsk(sh("date", cron("main", "1"))) // one that runs already, too
		r.allow(sh("date", cron("other", "4")))
		r.restart()
		r.mustAsk(sh("id", cron("main", "5")))
	})
}

func TestH22AStrangerInASharedSessionLowersItForGood(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.allow(sh("date", main))
		r.allow(call{tool: "read", params: `{"path":"notes"}`, context: with(main, "senderId", "9", "senderIsOwner", nil)})
		r.mustAsk(sh("date", main))
		if e := r.last(); e.Level != "external" {
			t.Errorf("the owner's next call is at %s", e.Level)
		}
		r.mustAsk(sh("id", with(main, "runId", "next", "trigger", "user")))
		r.restart()
		r.mustAsk(sh("whoami", main))
	})
}

func TestH23AWebhookThatLooksLikeCronIsNotSystem(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(sh("date", map[string]any{"sessionKey": "agent:main:cron:job:run:1", "trigger": "cron"}))
		for name, ctx := range map[string]map[string]any{
			"a hook's session key":       {"sessionKey": "hook:6f1c", "trigger": "cron"},
			"a hook's key with an agent": {"sessionKey": "agent:main:hook:gmail:7", "trigger": "cron"},
			"outside provenance":         {"sessionKey": "agent:main:cron:job:run:2", "trigger": "cron", "inputProvenance": map[string]any{"kind": "external_hook"}},
			"provenance as a string":     {"sessionKey": "agent:main:cron:job:run:3", "trigger": "cron", "inputProvenance": "webhook"},
			"no attestation":             {"sessionKey": "agent:main:cron:job:run:4"},
			"a sender":                   {"sessionKey": "agent:main:cron:job:run:5", "trigger": "cron", "senderId": "9"},
			"another trigger":            {"sessionKey": "agent:main:cron:job:run:6", "trigger": "CRON"},
		} {
			t.Run(name, func(t *testing.T) {
				r.mustAsk(sh("date", ctx))
				if e := r.last(); e.Level != "untrusted" && e.Level != "external" {
					t.Errorf("it is at %s", e.Level)
				}
			})
		}
	})
}
