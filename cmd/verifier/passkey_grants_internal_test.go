package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

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
