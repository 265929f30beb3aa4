package policy

import (
	"maps"
	"slices"
)

// Labelled are the destinations that the shipped label of a tool names.
func Labelled(tool string) []string {
	if f := shipped[tool]; f != nil {
		return f.destinations
	}
	return nil
}

// Served are the tools of well-known servers.
func Served() []string {
	return slices.Sorted(maps.Keys(served))
}
