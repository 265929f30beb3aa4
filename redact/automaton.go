package redact

import (
	"strings"
	"unicode/utf8"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// automaton finds all of many words in one walk over a text, without regard to
// the case of ASCII letters. It is made once and then only read.
type automaton struct {
	trie   *ahocorasick.Trie
	length []int      // by word
	marks  [256]uint8 // by byte
}

const (
	// notPlain marks bytes that are not ASCII, and the one that begins a
	// terminal's code.
	notPlain = 1 << iota
	// telling marks those that an escape or a mask begins with.
	telling
)

func newAutomaton(words []string) *automaton {
	a := &automaton{}
	b := ahocorasick.NewTrieBuilder()
	for _, w := range words {
		a.length = append(a.length, len(w))
		b.AddString(strings.ToLower(w))
	}
	a.trie = b.Build()
	for _, c := range []byte{'%', '\\', maskStart[0]} {
		a.marks[c] |= telling
	}
	a.marks[escape] |= notPlain
	for c := utf8.RuneSelf; c < len(a.marks); c++ {
		a.marks[c] |= notPlain
	}
	return a
}

// visitor is shown the words that are found, and where each starts.
type visitor interface {
	at(word, start int)
}

// find shows the words in the order in which they end, the longer first. It
// returns the marks that any of the bytes has.
func (a *automaton) find(s string, to visitor) (marks uint8) {
	lower := make([]byte, len(s)) // as long as s, so that places are the same
	for i := range len(s) {
		c := s[i]
		marks |= a.marks[c]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	a.trie.Walk(lower, func(end, n, word int64) bool {
		to.at(int(word), int(end-n+1))
		return true
	})
	return marks
}
