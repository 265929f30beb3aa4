package policy

import (
	"cmp"
	"slices"

	"github.com/openclaw-verifier/verifier/taint"
)

// profile is what a Config is laid over.
type profile struct {
	name   string
	policy taint.Row
	from   taint.Level
	strict bool
}

const (
	allow    = taint.Allow
	confirm  = taint.Confirm
	restrict = taint.Restrict
)

// profiles are the taint policies of seed 000: its default, its three examples laid over that default, and strict,
// which has the default's modes and none of its leniencies.
var profiles = []profile{
	{"default", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external, false},
	{"paranoid", taint.Row{allow, allow, allow, restrict, restrict, restrict}, external, false},
	{"permissive", taint.Row{allow, allow, allow, allow, allow, confirm}, untrusted, false},
	{"interactive", taint.Row{allow, allow, allow, confirm, confirm, restrict}, external, false},
	{"strict", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external, true},
}

// Profiles lists the names that Config.Profile may have.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

func profileNamed(name string) (profile, bool) {
	i := slices.Index(Profiles(), cmp.Or(name, "default"))
	return profiles[max(i, 0)], i >= 0
}
