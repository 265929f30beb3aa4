package label

import (
	"cmp"
	"slices"

	"github.com/openclaw-verifier/verifier/policy"
)

// Unreviewed are the entries that the owner has not looked at, those that let most pass first. known are the labels of the file.
func (f *File) Unreviewed(known map[string]policy.Tool) []Entry {
	open := slices.DeleteFunc(f.Entries(), func(e Entry) bool { return e.Reviewed })
	slices.SortStableFunc(open, func(x, y Entry) int { return cmp.Compare(quietness(known[x.Name]), quietness(known[y.Name])) })
	return open
}

// quietness orders labels by how much they let pass: 0 is most.
func quietness(t policy.Tool) int {
	switch {
	case t.Safe != nil && *t.Safe:
		return 0
	case t.Sink != nil && !*t.Sink:
		return 1
	case len(t.Content) > 0:
		return 2
	}
	return 3
}

// Tighten writes the strictest label as the owner's own word for a tool: it brings outside content in, and acts. What it
// destroys, costs or bears stays.
func (f *File) Tighten(name string, t policy.Tool) {
	f.Set(name, &policy.Tool{Source: new(true), Sink: new(true), Destructive: t.Destructive, Money: t.Money, Secret: t.Secret})
}
