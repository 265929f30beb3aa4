package policy

import "maps"

// index finds the owner's policies that can say something about a tool, so that a
// call costs the same however many policies there are for other tools.
type index struct {
	byTool map[string][]*declared // for the tools that some policy names
	rest   []*declared            // for all others
}

func newIndex(all []*declared) index {
	x := index{byTool: map[string][]*declared{}}
	for _, d := range all {
		for _, names := range []map[string]bool{d.tools, d.removes, d.blocks, d.asks} {
			for name := range maps.Keys(names) {
				x.byTool[name] = nil
			}
		}
	}
	for _, d := range all { // each list keeps their order
		for name := range x.byTool {
			if d.mayConcern(name) {
				x.byTool[name] = append(x.byTool[name], d)
			}
		}
		if d.mayConcern("") {
			x.rest = append(x.rest, d)
		}
	}
	return x
}

func (x *index) of(tool string) []*declared {
	if list, named := x.byTool[tool]; named {
		return list
	}
	return x.rest
}

// mayConcern reports whether a policy can be about calls of a tool and do anything
// to them.
func (d *declared) mayConcern(tool string) bool {
	if len(d.tools) > 0 && !d.tools[tool] {
		return false
	}
	return d.mode(tool) != allow || d.Action.LogFullContext || d.Action.PersistGraph
}
