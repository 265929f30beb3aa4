package policy_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// A route may name every rule that can make a call wait, and no other.
func TestTheRulesThatAskAreListed(t *testing.T) {
	confirm, allow := taint.Confirm, taint.Allow
	seen := map[string]bool{}
	for _, c := range []policy.Config{
		{}, {Profile: "strict"}, {Profile: "paranoid"}, {Profile: "permissive"},
		{ToolOverrides: map[string]policy.Override{
			"exec": {Any: &confirm}, "message": {TaintPolicy: policy.TaintPolicy{Shared: &confirm, External: &allow}},
		}},
		{Policies: []policy.Declared{{Name: "ask", Action: policy.Action{ConfirmTools: []string{"exec"}}}}},
		{Agents: map[string]policy.Agent{"main": {ToolOverrides: map[string]policy.Override{"exec": {Any: &confirm}}}}},
	} {
		p, _, err := policy.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range append(p.Tools(), "nobody knows") {
			for _, level := range taint.All() {
				call := toolcall.Call{Tool: tool, Params: []byte("{}"), Context: toolcall.Context{AgentID: "main"}}
				plan := p.Plan(&call)
				late := call
				late.Context.Iteration = new(10)
				for _, v := range []policy.Verdict{
					plan.Judge(session.View{Level: level}), plan.Judge(session.View{Level: level, Secret: ".env"}), plan.Judge(session.View{Level: level, Capped: true}), p.Judge(&late, session.View{Level: level}),
				} {
					if v.Mode == taint.Confirm {
						seen[v.Rule] = true
					}
				}
			}
		}
	}
	coding := toolcall.Call{Tool: "exec", Params: []byte(`{"command":"git push"}`), Context: toolcall.Context{AgentID: "codex"}}
	if v := must(t, policy.Config{}).Judge(&coding, session.View{Level: taint.Owner}); v.Mode == taint.Confirm {
		seen[v.Rule] = true
	}
	for _, rule := range policy.AskingRules() {
		if !seen[rule] {
			t.Errorf("%s asks nobody", rule)
		}
		delete(seen, rule)
	}
	for rule := range seen {
		if !slices.Contains(policy.AskingRules(), rule) {
			t.Errorf("%s asks and is not listed", rule)
		}
	}
}
