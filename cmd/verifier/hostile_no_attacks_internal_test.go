package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

// TestH486AStandingNoHidesNoOtherQuestion: a no holds for the same call without a card. It must not keep a question from the owner that is another one.
func TestH486AStandingNoHidesNoOtherQuestion(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		says := func(name string, texts ...string) map[string]any {
			var all []map[string]any
			for _, text := range texts {
				all = append(all, map[string]any{"text": text, "senderIsOwner": true})
			}
			return with(ownerIn(name), "userMessages", all)
		}
		deploy := func(m map[string]any) call { return sh("make deploy", m) }
		m := says("no", "look at the page")
		r.allow(fetch(m))
		r.stops(deploy(m))
		if a := r.send(soonAsked(deploy(m))); a.allowed() || len(r.pending()) != 0 {
			t.Fatalf("the no does not hold: %s", a.raw)
		}
		r.stops(deploy(says("no", "look at the page", "deploy it")))                   // the owner wants it now
		r.stops(deploy(says("no", "look at the page", "deploy it", "deploy it")))      // and says so again
		r.stops(sh("make deploy ", says("no", "look at the page", "deploy it", "ok"))) // another call
		r.stops(call{tool: "exec", params: `{"command":"make deploy","workdir":"/srv"}`, context: says("no", "look at the page", "deploy it", "ok")})
		other := says("elsewhere", "look at the page")
		r.allow(fetch(other))
		r.stops(deploy(other)) // another conversation
		child := spawned("subagent:h486", "no")
		r.stops(deploy(child)) // another run of the same conversation, to which the user said nothing
	})
}

// TestH487NoEarlierYesStandsInForAPasskey: a yes for the turn, for minutes, for calls like one, and a standing consent end where the config asks for a passkey.
func TestH487NoEarlierYesStandsInForAPasskey(t *testing.T) {
	r := standing(t)
	m := r.turnIn("h487")
	r.turn(sendsTo("+15550100", "one", m))
	r.allow(sendsTo("+15550100", "two", m))
	r.approved(sh("id -u", m), 30)
	r.allow(sh("id -u", m))
	r.reload(func(c *config.Config) { c.Approval.StepUp = []string{string(policy.StakeAll)} })
	r.notConsented("a yes for the turn", sendsTo("+15550100", "three", m))
	r.notConsented("a yes for minutes", sh("id -u", m))
	r.notConsented("a standing consent", note("shopping", "x", r.fetchedIn("h487-other")))
}
