package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// TestAReasonThatCanNeverHoldIsWarnedOf, and one that can is not.
func TestAReasonThatCanNeverHoldIsWarnedOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config policy.Config
		warns  string
	}{
		"own":               {policy.Config{Quiet: policy.Quiet{Own: true}}, "quiet.own"},
		"strict":            {policy.Config{Quiet: policy.Quiet{Repeat: true}, Profile: "strict"}, "quiet"},
		"strict by default": {policy.Config{Quiet: policy.Quiet{Completes: true, Site: true}, Profile: "strict"}, ""},
		"none":              {policy.Config{}, ""},
	} {
		_, warnings, err := policy.New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, w := range warnings {
			if strings.HasPrefix(w.Path, "quiet") {
				found = w.Path
			}
		}
		if found != c.warns {
			t.Errorf("%s: warned of %q, want %q", name, found, c.warns)
		}
	}
}
