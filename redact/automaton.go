package redact

import "strings"

// automaton finds all of many words in one walk over a text, without regard to
// the case of ASCII letters (Aho and Corasick). It is made once and then only
// read.
type automaton struct {
	class  [256]uint8 // bytes that no word has are class 0
	next   []uint16   // by state and class; the top bit says that words end there
	words  [][]uint16 // by state: which words end there
	length []int      // by word
}

const (
	classBits = 6
	ends      = 1 << 15
)

// newAutomaton takes at most 1<<15 letters in all and 63 different ones.
func newAutomaton(words []string) *automaton {
	a := &automaton{}
	t := trie{a: a, children: []map[uint8]uint16{{}}}
	a.words = [][]uint16{nil}
	for i, w := range words {
		a.length = append(a.length, len(w))
		t.add(strings.ToLower(w), uint16(i))
	}
	t.link()
	return a
}

// visitor is shown the words that are found, and where each starts.
type visitor interface {
	at(word, start int)
}

// find shows the words in the order in which they end.
func (a *automaton) find(s string, to visitor) {
	state := uint16(0)
	for i := range len(s) {
		state = a.next[int(state&^ends)<<classBits|int(a.class[s[i]])]
		if state&ends == 0 {
			continue
		}
		for _, w := range a.words[state&^ends] {
			to.at(int(w), i+1-a.length[w])
		}
	}
}

// trie is an automaton in the making.
type trie struct {
	a        *automaton
	children []map[uint8]uint16
	classes  uint8
}

func (t *trie) add(word string, id uint16) {
	state := uint16(0)
	for i := range len(word) {
		c := t.classOf(word[i])
		child, ok := t.children[state][c]
		if !ok {
			child = uint16(len(t.children)) //nolint:gosec // link refuses what is too large
			t.children = append(t.children, map[uint8]uint16{})
			t.a.words = append(t.a.words, nil)
			t.children[state][c] = child
		}
		state = child
	}
	t.a.words[state] = append(t.a.words[state], id)
}

func (t *trie) classOf(b byte) uint8 {
	if t.a.class[b] == 0 {
		t.classes++
		t.a.class[b] = t.classes
		if 'a' <= b && b <= 'z' {
			t.a.class[b-'a'+'A'] = t.classes
		}
	}
	return t.a.class[b]
}

// link turns the trie into a table: from every state, by every class, there is
// one next state.
func (t *trie) link() {
	if len(t.children) >= ends || t.classes >= 1<<classBits {
		panic("redact: too many words for the automaton")
	}
	next := make([]uint16, len(t.children)<<classBits)
	fail := make([]uint16, len(t.children))
	queue := []uint16{0}
	for n := 0; n < len(queue); n++ {
		state := queue[n]
		row, back := int(state)<<classBits, int(fail[state])<<classBits
		if state != 0 {
			copy(next[row:row+1<<classBits], next[back:back+1<<classBits])
		}
		for c, child := range t.children[state] {
			if state != 0 {
				fail[child] = next[row+int(c)]
			}
			next[row+int(c)] = child
			queue = append(queue, child)
		}
		t.a.words[state] = append(t.a.words[state], t.a.words[fail[state]]...)
	}
	for i, state := range next {
		if len(t.a.words[state]) > 0 {
			next[i] |= ends
		}
	}
	t.a.next = next
}
