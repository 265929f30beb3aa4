package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// nearest is the known key that a slip most likely meant. Case and separators
// count for little: listen_addr means listenAddr.
func nearest(key string, known []string) (best string, far int) {
	for i, k := range known {
		if d := distance(fold(key), fold(k)); i == 0 || d < far {
			best, far = k, d
		}
	}
	return best, far
}

func fold(key string) string {
	key = strings.ToLower(cut(key, 64)) // longer is no slip, and would take long
	return strings.NewReplacer("-", "", "_", "").Replace(key)
}

func cut(s string, n int) string { return s[:min(n, len(s))] }

// distance counts the bytes to change, add or drop.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
