package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// seed004 is the example of the proposal, word for word.
func seed004() []policy.Declared {
	return []policy.Declared{
		{Name: "no-exec-when-tainted", When: policy.When{ContextTaintIncludes: []taint.Level{external, untrusted}}, Action: policy.Action{RemoveTools: []string{"exec"}}},
		{Name: "no-send-when-untrusted", When: policy.When{ContextTaintIncludes: []taint.Level{untrusted}}, Action: policy.Action{BlockTools: []string{"message"}}},
		{Name: "max-recursion", When: policy.When{IterationGTE: new(5)}, Action: policy.Action{BlockTurn: true, Reason: "Max recursion depth exceeded"}},
		{Name: "audit-external", When: policy.When{ContextTaintIncludes: []taint.Level{external}}, Action: policy.Action{LogFullContext: true, PersistGraph: true}},
	}
}

func inIteration(c *protocol.Call, n int) *protocol.Call {
	c.Context.Iteration = &n
	return c
}

func TestSeed004Policies(t *testing.T) {
	p := must(t, policy.Config{Policies: seed004()})
	for _, c := range []struct {
		what  string
		call  *protocol.Call
		level taint.Level
		mode  taint.Mode
		rule  string
		told  string
		log   bool
	}{
		{"exec before", call("exec", `{"command":"ls"}`), local, allow, "taintPolicy", "", false},
		{"exec when tainted", call("exec", `{"command":"ls"}`), external, restrict, "policy", "", true},
		{"message at external", call("message", `{"action":"send"}`), external, confirm, "taintPolicy", "", true},
		{"message at untrusted", call("message", `{"action":"send"}`), untrusted, restrict, "policy", "", true},
		{"a read in iteration 4", inIteration(call("read", `{"path":"a"}`), 4), owner, allow, "safe", "", false},
		{"a read in iteration 5", inIteration(call("read", `{"path":"a"}`), 5), owner, restrict, "policy", "Max recursion depth exceeded", false},
	} {
		v := p.Judge(c.call, at(c.level))
		if v.Mode != c.mode || v.Rule != c.rule || v.Reason != c.told || v.LogContext != c.log || v.PersistGraph != c.log {
			t.Errorf("%s: %s by %s, told %q, logged %t; want %s by %s, %q, %t", c.what, v.Mode, v.Rule, v.Reason, v.LogContext, c.mode, c.rule, c.told, c.log)
		}
		if last := v.Why[len(v.Why)-1]; last.Rule != v.Rule || last.Mode != v.Mode {
			t.Errorf("%s: the path ends with %+v", c.what, last)
		}
	}
	if tool := call("exec", `{}`); !p.Removes(tool, external) || p.Removes(tool, local) || p.Removes(call("message", `{}`), untrusted) {
		t.Error("remove_tools takes away from the model's list what it must not, or not what it must")
	}
	if reason, blocked := p.BlocksTurn(inIteration(call("", `{}`), 6), owner); !blocked || reason != "Max recursion depth exceeded" {
		t.Errorf("the turn goes on: %q", reason)
	}
}

func TestAPolicyLooksAtTheCall(t *testing.T) {
	p := must(t, policy.Config{Policies: []policy.Declared{{
		Name:   "no passwords",
		When:   policy.When{Tool: []string{"read"}, Params: map[string]string{"path": "/etc/passwd"}},
		Action: policy.Action{BlockTools: []string{"*"}, Reason: "No."},
	}, {Name: "speech", Action: policy.Action{ConfirmTools: []string{"tts"}}}}})
	for _, c := range []struct {
		call *protocol.Call
		mode taint.Mode
	}{
		{call("read", `{"path":"/etc/passwd"}`), restrict},
		{call("read", `{"path":"/etc/hosts"}`), allow},
		{call("read", `{}`), allow},
		{call("ls", `{"path":"/etc/passwd"}`), allow},
		{call("tts", `{"text":"a"}`), confirm},
	} {
		if v := p.Judge(c.call, at(owner)); v.Mode != c.mode {
			t.Errorf("%s %s: %s by %s, want %s", c.call.Tool, c.call.Params, v.Mode, v.Rule, c.mode)
		}
	}
}

func TestPoliciesThatAreWrongSayWhere(t *testing.T) {
	one := func(w policy.When, a policy.Action) policy.Config {
		return policy.Config{Policies: []policy.Declared{{Name: "p", When: w, Action: a}}}
	}
	asks := policy.Action{ConfirmTools: []string{"exec"}}
	for want, c := range map[string]policy.Config{
		"policies[0]: has no name":                    {Policies: []policy.Declared{{Action: asks}}},
		"policies[1].name: p is the name of another":  {Policies: []policy.Declared{{Name: "p", Action: asks}, {Name: "p", Action: asks}}},
		"policies[0].action: does nothing":            one(policy.When{}, policy.Action{}),
		"policies[0].when.iteration_gte: must not be": one(policy.When{IterationGTE: new(-1)}, asks),
	} {
		if _, _, err := policy.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
