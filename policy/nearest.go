package policy

// nearest is the word that a slip most likely meant.
func nearest(word string, known []string) string {
	best := ""
	for _, k := range known {
		if best == "" || distance(word, k) < distance(word, best) {
			best = k
		}
	}
	return best
}

// distance counts the letters to change, add or drop.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
