package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// TestAReasonThatCanNeverHoldIsWarnedOf, and one that can is not.
func TestAReasonThatCanNeverHoldIsWarnedOf(t *testing.T) {
	t.Parallel()
	tools := map[string]policy.Tool{"enter_code": {Sink: new(true), Completes: new(true), Service: "shop"}, "get": {Source: new(true), Sink: new(true), Fetches: new(true)}}
	for name, c := range map[string]struct {
		config policy.Config
		warns  string
	}{
		"completes":           {policy.Config{Quiet: policy.Quiet{Completes: true}}, "quiet.completes"},
		"completes with tool": {policy.Config{Quiet: policy.Quiet{Completes: true}, Tools: tools}, ""},
		"site":                {policy.Config{Quiet: policy.Quiet{Site: true}}, "quiet.site"},
		"site with tool":      {policy.Config{Quiet: policy.Quiet{Site: true}, Tools: tools}, ""},
		"strict":              {policy.Config{Quiet: policy.Quiet{Repeat: true}, Profile: "strict"}, "quiet"},
		"strict by default":   {policy.Config{Quiet: policy.Quiet{Local: true}, Profile: "strict"}, ""},
		"none":                {policy.Config{}, ""},
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
