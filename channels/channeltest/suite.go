package channeltest

import (
	"slices"
	"testing"
)

// spec is one sentence about a channel, and its proof.
type spec struct {
	says  string
	check func(r *bench)
}

// bench makes the rig that a spec needs.
type bench struct {
	*testing.T
	platform Platform
}

// Run is the suite that every chat channel passes, or some groups of it. It opens
// a platform for each test, and runs the tests in parallel.
func Run(t *testing.T, open func(t *testing.T) Platform, groups ...string) {
	t.Helper()
	for _, group := range []struct {
		about string
		specs []spec
	}{
		{"card", cardSpecs()},
		{"answer", answerSpecs()},
		{"typed", typedSpecs()},
		{"identity", identitySpecs()},
		{"looks", looksSpecs()},
		{"late", lateSpecs()},
		{"fault", faultSpecs()},
	} {
		if len(groups) > 0 && !slices.Contains(groups, group.about) {
			continue
		}
		t.Run(group.about, func(t *testing.T) {
			for _, s := range group.specs {
				t.Run(s.says, func(t *testing.T) {
					t.Parallel()
					s.check(&bench{T: t, platform: open(t)})
				})
			}
		})
	}
}
