package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What is passed over without a closer look has nothing to look at. The texts are
// made of letters of base64, of what they stand for, and of what ends a run.
func TestOnlyWhatCanBeReadIsDecoded(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
	rnd := rand.New(rand.NewPCG(1, 2))
	readable, passed := 0, 0
	for range 5_000 {
		run := make([]byte, minBase64+rnd.IntN(30))
		for i := range run {
			run[i] = letters[rnd.IntN(len(letters))]
		}
		plain := base64.RawStdEncoding.EncodeToString([]byte("pass\tword\n=x")[:minClear+rnd.IntN(5)])
		copy(run[rnd.IntN(8):], plain[rnd.IntN(4):])
		found := slices.ContainsFunc([]int{0, 1, 2, 3}, func(shift int) bool { return len(decoded(string(run), shift)) > 0 })
		switch may := mayRead(string(run)); {
		case found && !may:
			t.Fatalf("%s is passed over, and reads %q", run, decoded(string(run), 0))
		case found:
			readable++
		case !may:
			passed++
		}
	}
	if readable == 0 || passed == 0 {
		t.Errorf("%d could be read, %d were passed over", readable, passed)
	}
}

func TestEveryRunIsFound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		s := make([]byte, rnd.IntN(100))
		for i := range s {
			s[i] = "abcdefgh "[rnd.IntN(9)]
		}
		var got, want []string
		for start, end := nextRun(string(s), 0); start < end; start, end = nextRun(string(s), end+1) {
			got = append(got, string(s[start:end]))
		}
		for _, w := range strings.Fields(string(s)) {
			if len(w) >= minBase64 {
				want = append(want, w)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: found %q, not %q", s, got, want)
		}
	}
}

// words notes what an automaton finds.
type words struct {
	all   []string
	found []string
}

func (w *words) at(word, start int) { w.found = append(w.found, fmt.Sprint(w.all[word], start)) }

func TestEveryWordIsFoundWhereItEnds(t *testing.T) {
	w := words{all: []string{"ab", "bab", "bc", "bca", "cc", "caa", "abcab", "bcabc"}}
	a := newAutomaton(w.all)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		s := make([]byte, rnd.IntN(30))
		for i := range s {
			s[i] = "abcABCx\x1b\xff"[rnd.IntN(9)]
		}
		w.found = nil
		marks := a.find(string(s), &w)
		var want []string
		for end := range len(s) + 1 {
			for start := range end { // the longer first
				if slices.Contains(w.all, strings.ToLower(string(s[start:end]))) {
					want = append(want, fmt.Sprint(strings.ToLower(string(s[start:end])), start))
				}
			}
		}
		if !slices.Equal(w.found, want) {
			t.Fatalf("%q: %v, not %v", s, w.found, want)
		}
		if plain := !strings.ContainsAny(string(s), "\x1b") && !slices.Contains(s, '\xff'); plain != (marks == 0) {
			t.Fatalf("%q is marked %b", s, marks)
		}
	}
}
