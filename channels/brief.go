package channels

import "github.com/openclaw-verifier/verifier/approval"

// briefWidth is what a line of a list has room for.
const briefWidth = 90

// Brief is what a call does, in one line of a list: its first argument that says
// so, cut where it is long. It is there to be opened, not to decide by.
func Brief(a *approval.Ask) string {
	members, ok := members(a.Shown)
	if !ok {
		return inline(string(a.Shown), briefWidth)
	}
	for _, name := range mains {
		for _, m := range members {
			if m.name == name {
				return inline(m.text, briefWidth)
			}
		}
	}
	if len(members) == 0 {
		return noArguments
	}
	return inline(plainName(members[0].name)+": "+members[0].text, briefWidth)
}

// Arguments are a call's arguments as they are shown, those that say what it
// does before the others.
func Arguments(a *approval.Ask) []string {
	seen := look(a, &unbounded)
	var out []string
	for _, m := range seen.mains {
		out = append(out, m.text)
	}
	for _, o := range seen.others {
		out = append(out, o.text)
	}
	return out
}
