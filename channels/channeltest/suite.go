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

// group is what the suite says about one thing.
type group struct {
	about string
	specs []spec
}

func groups() []group {
	return []group{
		{"card", cardSpecs()},
		{"answer", answerSpecs()},
		{"typed", typedSpecs()},
		{"identity", identitySpecs()},
		{"looks", looksSpecs()},
		{"late", lateSpecs()},
		{"fault", faultSpecs()},
	}
}

// bench makes the rig that a spec needs.
type bench struct {
	*testing.T
	platform Platform
}

// Run is the suite that every chat channel passes, or some groups of it. It opens
// a platform for each test, and runs the tests in parallel.
func Run(t *testing.T, open func(t *testing.T) Platform, only ...string) {
	t.Helper()
	all := groups()
	if len(only) > 0 {
		all = slices.DeleteFunc(all, func(g group) bool { return !slices.Contains(only, g.about) })
	}
	run(t, open, all, func(string, spec) string { return "" })
}

// run is what both kinds of platform have in common. A spec with a reason against
// it is skipped.
func run(t *testing.T, open func(t *testing.T) Platform, all []group, against func(group string, s spec) string) {
	t.Helper()
	for _, g := range all {
		t.Run(g.about, func(t *testing.T) {
			t.Parallel() // no group waits for the last test of another, which may be waiting for the time to pass
			for _, s := range g.specs {
				t.Run(s.says, func(t *testing.T) {
					if why := against(g.about, s); why != "" {
						t.Skip(why)
					}
					t.Parallel()
					s.check(&bench{T: t, platform: open(t)})
				})
			}
		})
	}
}
