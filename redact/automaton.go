package redact

import (
	"strings"
	"unicode/utf8"
)

// automaton finds all of many words in one walk over a text, without regard to
// the case of ASCII letters (Aho and Corasick). It is made once and then only
// read.
//
// Few places in a text look like the beginning of a word: it is walked only from
// where three bytes do.
//
// A state is where its row begins in the table, so that a step is one addition
// and one look. Rows come in the order of the length of what was read, so that
// those which nearly all texts need are together; states in which words end come
// last, so that one comparison tells them.
type automaton struct {
	class   [256]uint8 // bytes that no word has are class 0; with the marks of the byte
	begins  [pairs]uint64
	next    []uint32   // by state and class
	words   [][]uint16 // by row, from the first in which words end: which ones
	length  []int      // by word
	shallow uint32     // the first state that knows of two bytes or more
	ending  uint32     // the first state in which words end
}

const (
	classBits = 6
	classMask = 1<<classBits - 1
	pairs     = 1 << (2 * classBits) // of classes; begins has a bit for each class that may follow one where a word begins

	// notPlain marks bytes that are not ASCII, and the one that begins a
	// terminal's code.
	notPlain = 1 << 7
	// telling marks those that an escape or a mask begins with.
	telling = 1 << 6
)

// newAutomaton takes words of two letters or more, and at most 63 different ones.
func newAutomaton(words []string) *automaton {
	a := &automaton{}
	t := trie{a: a, nodes: []node{{}}}
	for i, w := range words {
		a.length = append(a.length, len(w))
		t.add(strings.ToLower(w), uint16(i))
	}
	t.link()
	a.class['%'] |= telling
	a.class['\\'] |= telling
	a.class[maskStart[0]] |= telling
	a.class[escape] |= notPlain
	for b := utf8.RuneSelf; b < len(a.class); b++ {
		a.class[b] |= notPlain
	}
	return a
}

// visitor is shown the words that are found, and where each starts.
type visitor interface {
	at(word, start int)
}

// find shows the words in the order in which they end. It returns the marks that
// any of the bytes has.
func (a *automaton) find(s string, to visitor) (marks uint8) {
	pair := uint(0) // the classes of the last two bytes
	for i := 0; i < len(s); i++ {
		c := a.class[s[i]]
		marks |= c
		if a.begins[pair%pairs]>>(c&classMask)&1 == 0 {
			pair = pair<<classBits | uint(c&classMask)
			continue
		}
		next, walked := a.walk(s, i-2, to)
		if marks |= walked; next == len(s) {
			return marks &^ classMask
		}
		i = next - 1
		pair = uint(a.class[s[i-1]]&classMask)<<classBits | uint(a.class[s[i]]&classMask)
	}
	if a.begins[pair%pairs]&1 != 0 { // the last two bytes are a word
		a.walk(s, len(s)-2, to)
	}
	return marks &^ classMask
}

// walk shows the words from where one may begin to where none is under way that
// has two bytes already. It returns where that is, and the marks up to there.
func (a *automaton) walk(s string, from int, to visitor) (next int, marks uint8) {
	state := uint32(0)
	for i := from; i < len(s); i++ {
		c := a.class[s[i]]
		marks |= c
		state = a.next[state+uint32(c&classMask)]
		switch {
		case state >= a.ending:
			for _, w := range a.words[(state-a.ending)>>classBits] {
				to.at(int(w), i+1-a.length[w])
			}
		case state < a.shallow && i > from:
			return i + 1, marks
		}
	}
	return len(s), marks
}

// trie is an automaton in the making.
type trie struct {
	a       *automaton
	nodes   []node
	classes uint8
}

// node is a beginning of words.
type node struct {
	children [1 << classBits]int // by class; 0: none
	fail     int                 // the longest end of it that is a node too
	words    []uint16            // that end here
}

func (t *trie) add(word string, id uint16) {
	t.begin(word)
	at := 0
	for i := range len(word) {
		c := t.classOf(word[i])
		if t.nodes[at].children[c] == 0 {
			t.nodes[at].children[c] = len(t.nodes)
			t.nodes = append(t.nodes, node{})
		}
		at = t.nodes[at].children[c]
	}
	t.nodes[at].words = append(t.nodes[at].words, id)
}

// begin notes the first three letters of a word. Anything may follow one of two.
func (t *trie) begin(word string) {
	if len(word) < 2 {
		panic("redact: a word is too short for the automaton")
	}
	third := ^uint64(0)
	pair := uint(t.classOf(word[0]))<<classBits | uint(t.classOf(word[1]))
	if len(word) > 2 {
		third = 1 << t.classOf(word[2])
	}
	t.a.begins[pair%pairs] |= third
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
	if t.classes > classMask {
		panic("redact: too many letters for the automaton")
	}
	order := t.byDepth()
	for _, child := range t.nodes[0].children {
		if child != 0 {
			t.a.shallow += 1 << classBits
		}
	}
	t.a.shallow += 1 << classBits // the root itself
	states := t.states(order)
	t.a.next = make([]uint32, len(t.nodes)<<classBits)
	for _, at := range order {
		n := &t.nodes[at]
		row, back := t.a.next[states[at]:][:1<<classBits], t.a.next[states[n.fail]:]
		for c, child := range n.children {
			switch {
			case child != 0:
				row[c] = states[child]
			case at != 0:
				row[c] = back[c]
			}
		}
	}
}

// byDepth finds where each node fails to, and what ends there besides its own. It
// lists the nodes, the shorter before the longer.
func (t *trie) byDepth() []int {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c, child := range t.nodes[at].children {
			if child == 0 {
				continue
			}
			order = append(order, child)
			back := t.nodes[at].fail
			for at != 0 && back != 0 && t.nodes[back].children[c] == 0 {
				back = t.nodes[back].fail
			}
			if at != 0 {
				back = t.nodes[back].children[c]
			}
			t.nodes[child].fail = back
			t.nodes[child].words = append(t.nodes[child].words, t.nodes[back].words...)
		}
	}
	return order
}

// states gives every node its row, those in which words end after the others.
func (t *trie) states(order []int) []uint32 {
	out := make([]uint32, len(order))
	row := uint32(0)
	for _, ends := range []bool{false, true} {
		if ends {
			t.a.ending = row
		}
		for _, at := range order {
			if words := t.nodes[at].words; ends == (len(words) > 0) {
				out[at] = row
				row += 1 << classBits
				if ends {
					t.a.words = append(t.a.words, words)
				}
			}
		}
	}
	return out
}
