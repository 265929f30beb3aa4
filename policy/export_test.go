package policy

import (
	"maps"
	"slices"
)

// Labelled are the params that the shipped labels of a tool name.
func Labelled(tool string) (destinations, content []string) {
	f := shipped[tool]
	if f == nil {
		return nil, nil
	}
	return f.destinations, f.content
}

// Served are the tools of well-known servers.
func Served() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(shipped)), func(name string) bool { return !isServed(name) })
}

// ReadTable refuses a bad line.
func ReadTable(text string) error {
	_, err := readTable(text)
	return err
}
