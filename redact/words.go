package redact

import (
	"slices"
	"strings"
)

// words finds all of many words in one walk over a text, without regard to the case of letters. It looks at a number
// made of each three characters in a row: few of them begin a word. It is made once and then only read.
type words struct {
	begins [slots / 64]uint64 // bits: three characters with this number may begin a word
	all    map[uint32][]word  // by the number
}

// word is one of at least two characters, and what is done where it is.
type word struct {
	text string
	look look
}

const slots = 1 << 15

// next makes the number of three characters from those before, and their number.
func next(three uint32, c byte) (now, slot uint32) {
	now = (three<<8 | uint32(c|' ')) & 0xffffff // letters become small
	return now, now * 0x9e3779b1 >> 17
}

func newWords(known []string) *words {
	w := &words{all: map[uint32][]word{}}
	for _, a := range slices.Concat(allWords(), wordsOf(known)) {
		two, _ := next(uint32(a.text[0]|' '), a.text[1])
		for third := range 256 {
			if c := byte(third); c == c|' ' && (len(a.text) == 2 || c == a.text[2]|' ') {
				_, slot := next(two, c)
				w.begins[slot/64] |= 1 << (slot % 64)
				w.all[slot] = append(w.all[slot], a)
			}
		}
	}
	for _, list := range w.all { // the longer first
		slices.SortStableFunc(list, func(a, b word) int { return len(b.text) - len(a.text) })
	}
	return w
}

// find shows f the words, in the order in which they start.
func (w *words) find(s string, f *finder) {
	var three, slot uint32
	for i := range len(s) {
		three, slot = next(three, s[i])
		if w.begins[slot/64]&(1<<(slot%64)) != 0 && i > 1 {
			w.at(s, i-2, slot, f)
		}
	}
	_, slot = next(three, 0)
	if w.begins[slot/64]&(1<<(slot%64)) != 0 && len(s) > 1 { // one of two characters may be the end
		w.at(s, len(s)-2, slot, f)
	}
}

func (w *words) at(s string, start int, slot uint32, f *finder) {
	for _, a := range w.all[slot] {
		if !f.failed && hasFold(s[start:], a.text) {
			a.look(f, start, start+len(a.text))
		}
	}
}

// hasFold reports whether s begins with a word, in small letters or capitals.
func hasFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' }
func isName(c byte) bool   { return isWord(c) || c == '-' || c == '.' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

// inBase64 is for the characters of all its alphabets.
func inBase64(c byte) bool { return isWord(c) || c == '-' || c == '+' || c == '/' || c == '=' }
