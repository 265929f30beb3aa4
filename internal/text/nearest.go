package text

import "strings"

// Nearest is the known word that a slip most likely meant, and how far it is: the number of bytes to change, add or
// drop. Case and separators count for nothing: listen_addr means listenAddr. Where nothing is known it is "". It is for
// hints: nothing is ever taken for what it resembles.
func Nearest(word string, known []string) (best string, far int) {
	word = fold(word)
	for i, k := range known {
		if d := distance(word, fold(k)); i == 0 || d < far {
			best, far = k, d
		}
	}
	return best, far
}

var separators = strings.NewReplacer("-", "", "_", "")

func fold(word string) string {
	const longest = 64 // longer is no slip, and would take long
	return separators.Replace(strings.ToLower(word[:min(longest, len(word))]))
}

// distance is Levenshtein's, in one row.
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
