package redact

import (
	"slices"
	"strings"
)

// words finds all of many words in one walk over a text, without regard to the case of ASCII letters. It looks at each
// three characters in a row, as 15 bits: few of them begin a word. It is made once and then only read.
type words struct {
	begins [1 << 15 / 64]uint64 // bits: these three begin a word
	all    map[uint16][]word    // by the three
}

// word is one of at least two characters, in small letters, and what is done where it is.
type word struct {
	text string
	look look
}

// classes are characters in five bits. Those that share a class are told apart where three of them begin a word.
var classes = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case isLetter(b):
			t[c] = b | 0x20 - 'a' + 1
		case isDigit(b):
			t[c] = 27
		case b == '-' || b == '_':
			t[c] = 28
		case isSpace(b):
			t[c] = 29
		case strings.IndexByte("./:=@~$", b) >= 0:
			t[c] = 30
		}
	}
	return t
}()

func newWords(all []word) *words {
	w := &words{all: map[uint16][]word{}}
	for _, a := range all {
		first := uint16(classes[a.text[0]])<<10 | uint16(classes[a.text[1]])<<5
		if len(a.text) > 2 {
			w.put(first|uint16(classes[a.text[2]]), a)
			continue
		}
		for third := range uint16(32) {
			w.put(first|third, a)
		}
	}
	for _, list := range w.all { // the longer first
		slices.SortStableFunc(list, func(a, b word) int { return len(b.text) - len(a.text) })
	}
	return w
}

func (w *words) put(three uint16, a word) {
	w.begins[three/64] |= 1 << (three % 64)
	w.all[three] = append(w.all[three], a)
}

// find shows f the words, in the order in which they start.
func (w *words) find(s string, f *finder) {
	three := uint16(0)
	for i := range len(s) {
		three = three<<5&0x7fff | uint16(classes[s[i]])
		if w.begins[three/64]&(1<<(three%64)) != 0 {
			w.at(s, i-2, three, f)
		}
	}
	w.at(s, len(s)-2, three<<5&0x7fff, f) // one of two characters may be the end
}

func (w *words) at(s string, start int, three uint16, f *finder) {
	if start < 0 {
		return
	}
	for _, a := range w.all[three] {
		if !f.failed && hasFold(s[start:], a.text) {
			a.look(f, start, start+len(a.text))
		}
	}
}

// hasFold reports whether s begins with a word in small letters.
func hasFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isName(c byte) bool   { return isWord(c) || c == '-' || c == '.' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

// inBase64 is for the characters of all its alphabets.
func inBase64(c byte) bool { return isWord(c) || c == '-' || c == '+' || c == '/' || c == '=' }
