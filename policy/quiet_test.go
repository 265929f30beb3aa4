package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// TestWhatReadsASecretIsNotSaidToPass as local: it asks for the secret, wherever the command stays.
func TestWhatReadsASecretIsNotSaidToPass(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{Quiet: policy.Quiet{Local: true}})
	says := func(reason, command string) bool {
		c := call("exec", `{"command":"`+command+`"}`)
		c.Context.SenderIsOwner, c.Context.Platform = true, "linux"
		plan := p.Plan(c)
		return slices.ContainsFunc(plan.Consents(), func(s string) bool { return strings.HasPrefix(s, reason+": ") })
	}
	for reason, commands := range map[string][]string{"local": {"ls", "git log -3", "grep foo main.go"}} {
		for _, command := range commands {
			if !says(reason, command) {
				t.Errorf("%s is not said to pass: %s", command, reason)
			}
		}
		for _, command := range []string{"cat .env", "cat id_rsa", "cat .npmrc", "cat main.go .env", "ls && cat .npmrc", "grep foo id_rsa", "grep foo config/database.yml"} {
			if says(reason, command) {
				t.Errorf("%s is said to pass: %s", command, reason)
			}
		}
	}
}
