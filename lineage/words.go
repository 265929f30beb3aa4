package lineage

import (
	"hash/fnv"
	"strings"
)

const (
	mostDense   = 256 // runs of a text of which all are kept
	window      = 8   // runs of a longer text of which at least one is kept
	leastWords  = 4
	leastLength = 20
)

// word is the position of one in a folded text.
type word struct{ from, to int }

// wordRuns returns, from each word on, the shortest run that is long enough to
// be distinctive.
func wordRuns(f *folded) []item {
	words := cutWords(f.chars)
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = f.lowered(w.from, w.to)
	}
	var runs []item
	for i := range words {
		end := runEnd(words, i)
		if end == 0 {
			break
		}
		runs = append(runs, item{Words, strings.Join(texts[i:end], " "), words[i].from, words[end-1].to})
	}
	return runs
}

// runEnd is the index after the last word of the run from i, or 0.
func runEnd(words []word, i int) int {
	length := -1
	for j := i; j < len(words); j++ {
		length += 1 + words[j].to - words[j].from
		if j-i+1 >= leastWords && length >= leastLength {
			return j + 1
		}
	}
	return 0
}

func cutWords(chars []rune) []word {
	var words []word
	for from := 0; from < len(chars); {
		to := from + 1
		if isWordChar(chars[from]) {
			for !isCJK(chars[from]) && to < len(chars) && isWordChar(chars[to]) && !isCJK(chars[to]) {
				to++
			}
			words = append(words, word{from, to})
		}
		from = to
	}
	return words
}

// winnowed keeps all runs of a short text. Of a longer one it keeps the run with
// the smallest hash in every window, the last of equals: so of a passage as long
// as a window at least one run is kept, wherever the passage is copied to.
func winnowed(runs []item) []item {
	if len(runs) <= mostDense {
		return runs
	}
	hashes := make([]uint32, len(runs))
	for i, r := range runs {
		h := fnv.New32a() // it only chooses; what is kept is fingerprinted under the key
		h.Write([]byte(r.value))
		hashes[i] = h.Sum32()
	}
	var kept []item
	last := -1
	for end := window; end <= len(runs); end++ {
		least := end - window
		for i := least + 1; i < end; i++ {
			if hashes[i] <= hashes[least] {
				least = i
			}
		}
		if least != last {
			kept = append(kept, runs[least])
		}
		last = least
	}
	return kept
}
