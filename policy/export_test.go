package policy

import (
	"maps"
	"slices"
)

// Labelled are the params that the shipped labels of a tool name.
func Labelled(tool string) (destinations, content []string) {
	return shippedLabels[tool].destinations, shippedLabels[tool].content
}

// Served are the tools of well-known servers.
func Served() []string { return slices.Sorted(maps.Keys(isServed)) }
