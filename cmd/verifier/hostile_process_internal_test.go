package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// TestH213LookingAtABackgroundCommandIsNoAct: OpenClaw's process tool polls, lists and logs what commands printed that run
// already. What types into one, or ends it, acts. A command of an earlier context window may be looked at in the next: what
// that window had read comes in with it.
func TestH213LookingAtABackgroundCommandIsNoAct(t *testing.T) {
	t.Parallel()
	process := func(params string, m map[string]any) call { return call{tool: "process", params: params, context: m} }
	onBoth(t, func(c *config.Config) { c.Approval.MaxOpen = 50 }, func(t *testing.T, r *rig) {
		m := with(ownerIn("m"), "sessionId", "s1")
		r.allow(fetch(m))
		for _, look := range []string{
			`{"action":"list"}`, `{"action":"poll","sessionId":"calm-otter","timeout":20000}`, `{"action":"poll","sessionId":"calm-otter","timeout":"500"}`,
			`{"action":"log","sessionId":"calm-otter","offset":0,"limit":50}`,
		} {
			r.allow(process(look, m))
		}
		r.mustAsk(sh("./run.sh", m)) // nothing is better for it
		for _, act := range []string{
			`{"action":"write","sessionId":"a","data":"y\n"}`, `{"action":"write","sessionId":"a","eof":true}`, `{"action":"send-keys","sessionId":"a","keys":["Enter"]}`,
			`{"action":"submit","sessionId":"a"}`, `{"action":"paste","sessionId":"a","text":"y"}`, `{"action":"kill","sessionId":"a"}`,
			`{"action":"remove","sessionId":"a"}`, `{"action":"clear","sessionId":"a"}`,
			`{"action":"poll","sessionId":"a","data":"y\n"}`, `{"action":"poll","sessionId":"a","keys":["Enter"]}`, `{"action":"Poll","sessionId":"a"}`,
			`{"action":["poll"],"sessionId":"a"}`, `{"sessionId":"a"}`, `{}`, `{"action":"poll","Action":"write","sessionId":"a"}`,
		} {
			r.mustAsk(process(act, m))
		}
		r.restricted(process(`{"action":"poll","sessionId":"verifier approve"}`, m))

		next := with(m, "sessionId", "s2")
		r.allow(sh("./run.sh", next)) // another context window is clean
		r.allow(process(`{"action":"poll","sessionId":"calm-otter"}`, next))
		r.mustAsk(sh("./run.sh", next)) // until it has looked at what a command of the first printed

		child := map[string]any{"sessionKey": "agent:main:subagent:c1", "spawnedBy": "agent:main:m", "sessionId": "c1"}
		r.allow(process(`{"action":"poll","sessionId":"calm-otter"}`, child))
		r.mustAsk(sh("./run.sh", child))
		clean := with(ownerIn("clean"), "sessionId", "s3")
		r.allow(process(`{"action":"poll","sessionId":"calm-otter"}`, clean))
		r.allow(sh("./run.sh", clean))
		r.soundRecord()
	})
	t.Run("under the profile paranoid", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *config.Config) { c.Policy.Profile = "paranoid" })
		m := ownerIn("m")
		r.allow(process(`{"action":"poll","sessionId":"calm-otter"}`, m))
		if a := r.deny(process(`{"action":"kill","sessionId":"a"}`, with(unvouched("x"), "waitMs", 1))); a.allowed() {
			t.Errorf("got %s", a.raw)
		}
	})
}
