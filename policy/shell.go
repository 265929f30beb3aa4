package policy

import "strings"

func words(list string) map[string]bool {
	all := strings.Fields(list)
	set := make(map[string]bool, len(all))
	for _, w := range all {
		set[w] = true
	}
	return set
}

func isRooted(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }
