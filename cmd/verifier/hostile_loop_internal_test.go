package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

// TestH130ARunAtItsCapAsksAndANoEndsIt: nothing is configured. At the cap of its
// iterations, or of its calls where these are not counted, a run needs a person:
// a yes lets it go on for as much again, a no ends it.
func TestH130ARunAtItsCapAsksAndANoEndsIt(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		read := func(run string, more ...any) call {
			// Of another file in each run: a no stands for the same call.
			return call{tool: "read", params: `{"path":"` + run + `"}`, context: with(with(ownerIn("m"), "runId", run), more...)}
		}
		r.allow(read("r", "iteration", 9))
		held := r.hold(read("r", "iteration", 10))
		card := r.waits()
		if !strings.Contains(oneLine(card.Text), "The model was called 11 times in this run, and your limit is 10.") {
			t.Errorf("the card does not say why:\n%s", card.Text)
		}
		r.approve(card.Ref, 0)
		if a := <-held; a.Decision != "allow" {
			t.Fatalf("approved: %s", a.raw)
		}
		r.allow(read("r", "iteration", 19))
		held = r.hold(read("r", "iteration", 20))
		r.refuse(r.waits().Ref, "")
		if a := <-held; a.Decision != "deny" {
			t.Fatalf("denied: %s", a.raw)
		}
		for _, n := range []int{20, 21, 1000} {
			if a := r.deny(read("r", "iteration", n)); a.Ref != "" || !strings.HasPrefix(a.Reason, "Not permitted here") {
				t.Errorf("iteration %d after a no: %s", n, a.raw)
			}
		}
		r.allow(read("next", "iteration", 0))

		act := func(run string) call { return sh("touch a", inRun(ownerIn("m"), run)) }
		for range 100 {
			r.allow(act("long"))
		}
		held = r.hold(act("long"))
		card = r.waits()
		if !strings.Contains(oneLine(card.Text), "The run has made more than 100 calls, which is your limit.") {
			t.Errorf("the card does not say why:\n%s", card.Text)
		}
		r.approve(card.Ref, 0)
		if a := <-held; a.Decision != "allow" {
			t.Fatalf("approved: %s", a.raw)
		}
		for range 99 {
			r.allow(act("long"))
		}
		r.mustAsk(act("long"))
		r.allow(read("long")) // what only looks is counted apart
		r.allow(read("longer"))
		r.mustAsk(read("another", "iteration", 10))
	})
}

// TestH150ARunThatStopsTellingItsIterationStaysAtTheLast: nothing is configured. A
// call without an iteration, or with a lower one, counts as the highest that its
// run has told, and the cap on calls binds it as well.
func TestH150ARunThatStopsTellingItsIterationStaysAtTheLast(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		read := func(run string, more ...any) call {
			return call{tool: "read", params: `{"path":"` + run + `"}`, context: with(inRun(ownerIn("m"), run), more...)}
		}
		held := r.hold(read("stopped", "iteration", 10))
		r.refuse(r.waits().Ref, "")
		<-held
		for _, c := range []call{read("stopped"), read("stopped", "iteration", 0)} {
			if a := r.deny(c); a.Ref != "" || !strings.HasPrefix(a.Reason, "Not permitted here") {
				t.Errorf("after a no: %s", a.raw)
			}
		}

		held = r.hold(read("goes-on", "iteration", 10))
		r.approve(r.waits().Ref, 0)
		if a := <-held; a.Decision != "allow" {
			t.Fatalf("approved: %s", a.raw)
		}
		r.allow(read("goes-on"))

		r.allow(read("long", "iteration", 9))
		for range 100 {
			r.allow(read("long"))
		}
		r.mustAsk(read("long"))

		r.mustAsk(read("asked", "iteration", 10))
		r.mustAsk(read("asked"))
		r.mustAsk(read("asked", "iteration", 0))
		r.allow(read("other"))

		r.takes(event{name: "loop_iteration_end", context: inRun(ownerIn("m"), "event"), about: `{"iteration":10}`})
		r.mustAsk(read("event"))
	})
}

// TestH150ARuleAboutIterationsHoldsWhenTheRunStopsTellingThem covers the owner's
// own rules, for calls and for the list of tools.
func TestH150ARuleAboutIterationsHoldsWhenTheRunStopsTellingThem(t *testing.T) {
	t.Parallel()
	onBoth(t, func(c *config.Config) {
		c.Policy.Policies = []policy.Declared{{Name: "late", When: policy.When{IterationGTE: new(5)}, Action: policy.Action{RemoveTools: []string{"read"}}}}
	}, func(t *testing.T, r *rig) {
		in := inRun(ownerIn("m"), "r")
		read := call{tool: "read", params: `{"path":"a"}`, context: in}
		offer := event{name: "before_llm_call", context: in, about: `{"tools":[{"name":"read"},{"name":"ls"}]}`}
		r.allow(read)
		if a := r.takes(offer); a.Tools != nil {
			t.Errorf("before any iteration: %s", a.raw)
		}
		r.deny(call{tool: "read", params: `{"path":"b"}`, context: with(in, "iteration", 5)})
		r.deny(read)
		if a := r.takes(offer); len(a.Tools) != 1 || a.Block {
			t.Errorf("after the fifth: %s", a.raw)
		}
	})
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestAClientsRunsHaveTheirOwnCap(t *testing.T) {
	t.Parallel()
	onBoth(t, func(c *config.Config) {
		c.Policy.MaxCalls = 2
		c.Policy.Clients = map[string]policy.Client{config.DefaultClient: {MaxCalls: 3}}
	}, func(t *testing.T, r *rig) {
		for range 3 {
			r.allow(sh("touch a", inRun(ownerIn("m"), "run")))
		}
		r.mustAsk(sh("touch a", inRun(ownerIn("m"), "run")))
	})
}

// TestH133AClientWithoutSendersGetsACardThatSaysSo: nothing came in, and the card
// must not claim it; once something did, it says that.
func TestH133AClientWithoutSendersGetsACardThatSaysSo(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		unknown := map[string]any{"sessionKey": "agent:main:nobody", "agentId": "main"}
		const outside, unsaid = "The agent has read outside content", "We don't know who started this run"
		held := r.hold(sh("touch a", unknown))
		card := r.waits()
		if text := oneLine(card.Text); !strings.Contains(text, unsaid) || strings.Contains(text, outside) {
			t.Errorf("before anything came in:\n%s", card.Text)
		}
		r.refuse(card.Ref, "")
		<-held
		r.allow(fetch(unknown))
		held = r.hold(sh("touch b", unknown))
		card = r.waits()
		if text := oneLine(card.Text); !strings.Contains(text, outside) {
			t.Errorf("after a page came in:\n%s", card.Text)
		}
		r.refuse(card.Ref, "")
		<-held
	})
}
