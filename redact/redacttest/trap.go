package redacttest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Trap knows what was planted where, and finds it in what came out, in any form.
// A test plants, runs, and scans all that the program wrote, answered or showed.
// It is safe for concurrent use.
type Trap struct {
	mu      sync.Mutex
	planted []planting
}

type planting struct {
	what, secret string
	allowed      []string
}

// Leak is a secret that came out.
type Leak struct {
	What   string // what was planted, and where
	Output string // where it came out
	Form   string // how it is written there
	Near   string // the text around it there
}

func (l Leak) String() string {
	return fmt.Sprintf("%s stands in the %s (%s): …%s…", l.What, l.Output, l.Form, l.Near)
}

// shortest is how many characters a secret must have: a shorter one would be
// found by chance.
const shortest = 8

// Plant remembers a secret by what it is. It may stand in the outputs that are
// named, as a code may on the owner's screen. A secret too short to be told from
// chance is a mistake of the test's.
func (t *Trap) Plant(what, secret string, allowed ...string) {
	if len(secret) < shortest {
		panic("redacttest: " + what + " is too short to be looked for")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.planted = append(t.planted, planting{what, secret, allowed})
}

// Planted is how many there are: a test that planted nothing finds nothing.
func (t *Trap) Planted() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.planted)
}

// Scan looks for all that was planted in each of the outputs, by name. It takes
// time by the length of the outputs, and hardly by the number of secrets. The
// race detector leaves out what looks at each byte: strings do not change, and
// the rest is in Scan alone.
func (t *Trap) Scan(outputs map[string]string) []Leak {
	t.mu.Lock()
	defer t.mu.Unlock()
	exact, anyCase := newIndex(), newIndex()
	for i, p := range t.planted {
		for _, f := range forms(p.secret) {
			if f.fold {
				anyCase.add(folded(f.text), trace{i, f.name})
			} else {
				exact.add(f.text, trace{i, f.name})
			}
		}
	}
	names := make([]string, 0, len(outputs))
	for name := range outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Leak
	for _, name := range names {
		for _, text := range []string{outputs[name], unwrapped(outputs[name])} {
			found := exact.find(text, text)
			found = append(found, anyCase.find(folded(text), text)...)
			out = append(out, t.leaks(name, found)...)
		}
	}
	return distinct(out)
}

// leaks leaves out what may stand in the output.
func (t *Trap) leaks(output string, found []sighting) (out []Leak) {
	for _, s := range found {
		if p := t.planted[s.planting]; !slices.Contains(p.allowed, output) {
			out = append(out, Leak{p.what, output, s.form, s.near})
		}
	}
	return out
}

// distinct keeps one leak of each secret in each output.
func distinct(leaks []Leak) []Leak {
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(leaks, func(l Leak) bool {
		key := [2]string{l.What, l.Output}
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// unwrapped joins lines: base64 and PEM are cut into lines, and so is what a
// terminal shows, behind an indent or a bar.
//
//go:norace
func unwrapped(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n := breakAt(s, i)
		if n == 0 {
			out = append(out, s[i])
			i++
			continue
		}
		for i += n; i < len(s) && (strings.IndexByte(" \t|>", s[i]) >= 0 || strings.HasPrefix(s[i:], bar)); i++ {
			if s[i] == bar[0] {
				i += len(bar) - 1
			}
		}
	}
	return string(out)
}

const bar = "│"

// breakAt is how long a line break at i is, as it is or escaped; 0: none.
//
//go:norace
func breakAt(s string, i int) int {
	switch {
	case s[i] == '\n' || s[i] == '\r':
		return 1
	case s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r'):
		return 2
	}
	return 0
}

// folded folds ASCII alone, so that every place stays where it was.
//
//go:norace
func folded(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// trace is a form of a planted secret.
type trace struct {
	planting int
	form     string
}

type sighting struct {
	trace
	near string
}

// index finds many texts at once: by their first characters, then by the rest.
type index struct {
	byStart map[[shortest]byte][]indexed
	starts  []bool // by a hash of four characters: most places are done with after a look there
}

type indexed struct {
	text string
	trace
}

func newIndex() *index {
	return &index{byStart: make(map[[shortest]byte][]indexed), starts: make([]bool, 1<<20)}
}

func (x *index) add(text string, t trace) {
	if len(text) < shortest {
		return
	}
	key := [shortest]byte([]byte(text[:shortest]))
	x.byStart[key] = append(x.byStart[key], indexed{text, t})
	x.starts[hash(text)] = true
}

// hash is of the first four characters.
func hash(s string) uint32 {
	four := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return four * 2654435761 >> 12
}

// alone is how long a text must be to be no chance in the middle of a hash.
const alone = 12

// isWord reports whether text[a:b] is not part of a longer word.
func isWord(text string, a, b int) bool {
	return (a == 0 || !isLetter(text[a-1])) && (b == len(text) || !isLetter(text[b]))
}

func isLetter(c byte) bool { return strings.IndexByte(alnum, c) >= 0 }

// find looks through a text; original is the same before it was folded.
//
//go:norace
func (x *index) find(text, original string) (out []sighting) {
	for i := 0; i+shortest <= len(text); i++ {
		if !x.starts[hash(text[i:])] {
			continue
		}
		for _, f := range x.byStart[[shortest]byte([]byte(text[i:i+shortest]))] {
			if strings.HasPrefix(text[i:], f.text) && (len(f.text) >= alone || isWord(text, i, i+len(f.text))) {
				near := original[max(0, i-60):min(len(original), i+len(f.text)+60)]
				out = append(out, sighting{f.trace, strings.ToValidUTF8(near, "?")})
			}
		}
	}
	return out
}
