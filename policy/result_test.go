package policy_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

func TestArgumentsMakeAResultBetterOrWorseThanItsToolSays(t *testing.T) {
	p, _, err := policy.New(policy.Config{Trust: policy.Trust{Rules: []policy.TrustRule{{Tool: "web_fetch", Host: "wiki.lan.example", Source: new(false)}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, params string
		want         bool
	}{
		{"web_fetch", `{"url":"https://wiki.lan.example/"}`, true},
		{"message", `{"action":"send","to":"bob"}`, true},
		{"web_fetch", `{"url":"https://elsewhere.example/"}`, false},
		{"message", `{"action":"read"}`, false},
		{"exec", `{"command":"curl https://elsewhere.example"}`, true},
		{"exec", `{"command":"git status"}`, false},
		{"read", `{"path":"a"}`, false},
		{"tool_call", `{"name":"web_fetch"}`, false},
	} {
		if plan := p.Plan(call(c.tool, c.params)); plan.ByArguments() != c.want {
			t.Errorf("%s %s: %t", c.tool, c.params, !c.want)
		}
	}
}
