package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

var someTools = []string{"exec", "read", "web_fetch", "gateway", "message", "sessions_send", "automations", "vestige_promote", "acme", "tool_call"}

func maybeMode() *rapid.Generator[*taint.Mode] {
	return rapid.Custom(func(t *rapid.T) *taint.Mode {
		if n := rapid.IntRange(-2, 2).Draw(t, "mode"); n >= 0 {
			return on(taint.Mode(n))
		}
		return nil
	})
}

func policies() *rapid.Generator[policy.TaintPolicy] {
	return rapid.Custom(func(t *rapid.T) policy.TaintPolicy {
		m := rapid.SliceOfN(maybeMode(), 6, 6).Draw(t, "levels")
		return policy.TaintPolicy{System: m[0], Owner: m[1], Local: m[2], Shared: m[3], External: m[4], Untrusted: m[5]}
	})
}

func overrides() *rapid.Generator[map[string]policy.Override] {
	return rapid.MapOfN(rapid.SampledFrom(someTools), rapid.Custom(func(t *rapid.T) policy.Override {
		return policy.Override{Any: maybeMode().Draw(t, "any"), TaintPolicy: policies().Draw(t, "policy")}
	}), 0, 4)
}

// configs are random policies without agents. Strict refuses what the others
// tighten, so it is left to its own tests.
func configs() *rapid.Generator[policy.Config] {
	return rapid.Custom(func(t *rapid.T) policy.Config {
		c := policy.Config{
			Profile:       rapid.SampledFrom([]string{"", "paranoid", "permissive", "interactive"}).Draw(t, "profile"),
			TaintPolicy:   policies().Draw(t, "taintPolicy"),
			ToolOverrides: overrides().Draw(t, "toolOverrides"),
		}
		if rapid.Bool().Draw(t, "own from") {
			c.Taint.From = is(taint.Level(rapid.IntRange(0, 5).Draw(t, "from")))
		}
		return c
	})
}

func build(t *rapid.T, c policy.Config) *policy.Policy {
	p, _, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNoRowPermitsMoreToLessTrustedContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := configs().Draw(t, "config")
		c.Agents = map[string]policy.Agent{"ops": {TaintPolicy: policies().Draw(t, "agent"), ToolOverrides: overrides().Draw(t, "agent overrides")}}
		p := build(t, c)
		for _, agent := range []string{"", "main", "ops"} {
			for _, tool := range someTools {
				made := call(tool, `{"label":"x"}`)
				made.Context.AgentID, made.Context.SessionKey = agent, ""
				plan := p.Plan(made)
				if _, tightened := plan.Modes.Closed(); len(tightened) > 0 {
					t.Fatalf("%s for %q: %v permits more at %v", tool, agent, plan.Modes, tightened)
				}
				for _, l := range taint.All() {
					if v := plan.Judge(at(l)); v.Mode != plan.Modes[l] || v.Why[len(v.Why)-1].Mode != v.Mode || v.Why[len(v.Why)-1].Rule != v.Rule {
						t.Fatalf("%s at %s is %s, but the path ends with %+v", tool, l, plan.Modes[l], v)
					}
				}
			}
		}
	})
}

func TestAnAgentsRulesNeverLoosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := configs().Draw(t, "config")
		before := build(t, c)
		c.Agents = map[string]policy.Agent{
			"Ops": {TaintPolicy: policies().Draw(t, "agent"), ToolOverrides: overrides().Draw(t, "agent overrides"), Scope: policy.Scope{Exclude: rapid.SliceOfN(rapid.SampledFrom(before.Tools()), 0, 3).Draw(t, "agent scope")}},
			"dev": {ToolOverrides: overrides().Draw(t, "dev overrides")},
		}
		after := build(t, c)
		for _, tool := range append(after.Tools(), "never_named") {
			global := before.Row("ops", tool)
			for _, agent := range []string{"ops", "OPS", "dev", "other", ""} {
				if got := after.Row(agent, tool); got.Stricter(global) != got {
					t.Fatalf("%s for %q is %v, looser than %v", tool, agent, got, global)
				}
			}
			if got := after.Row("", tool); got.Stricter(after.Row("ops", tool)).Stricter(after.Row("dev", tool)) != got {
				t.Fatalf("%s without an agent is %v, looser than an agent's", tool, got)
			}
		}
	})
}

func TestTaintEscalationNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := configs().Draw(t, "config")
		from := taint.Level(rapid.IntRange(0, 4).Draw(t, "from"))
		c.Taint.From = is(from)
		early := build(t, c)
		c.Taint.From = is(from + 1)
		late := build(t, c)
		for _, tool := range early.Tools() {
			if e, l := early.Row("main", tool), late.Row("main", tool); e.Stricter(l) != e {
				t.Fatalf("%s tainted from %s is %v, looser than %v from %s", tool, from, e, l, from+1)
			}
		}
	})
}
