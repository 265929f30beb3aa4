package command

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// row is what is known of a program or subcommand.
type row struct {
	effect   Effect
	flags    map[string]bool // those without a value
	patterns *regexp.Regexp  // of more of them
	values   map[string]kind // those with one
	operands []operand
}

type operand struct {
	kind
	optional, repeated, dashes bool
}

// kind is what a word has to look like.
type kind struct {
	pattern *regexp.Regexp
	file    bool // it names a file or directory
}

//go:embed programs.txt
var programsText string

// programs has the rows of programs.txt by name: "git log", "first git". It panics at an error: the text is ours.
var programs = sync.OnceValue(func() map[string]*row {
	rows, kinds := map[string]*row{}, map[string]kind{}
	kindOf := func(name string) kind {
		if k, named := kinds[name]; named {
			return k
		}
		return kind{pattern: whole(strings.TrimSuffix(strings.TrimPrefix(name, "/"), "/"))}
	}
	effects := map[string]Effect{"look": Look, "local": Local, "first": Anything, "install": install}
	for line := range strings.Lines(strings.ReplaceAll(programsText, "\n  ", " ")) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		effect, ok := effects[head]
		switch {
		case head == "" || head == "#":
			continue
		case head == "word" || head == "file":
			f := strings.Fields(rest)
			kinds[f[0]] = kind{whole(f[1]), head == "file"}
			continue
		case !ok:
			panic("programs.txt: no effect " + head)
		}
		columns := append(strings.Split(rest, " | "), "", "")
		r := &row{effect: effect, flags: map[string]bool{}, values: map[string]kind{}}
		var flags []string
		for f := range strings.FieldsSeq(columns[1]) {
			if name, value, takes := strings.Cut(f, ":"); takes {
				r.values[name] = kindOf(value)
			} else if f == regexp.QuoteMeta(f) {
				r.flags[f] = f != "-"
			} else {
				flags = append(flags, f)
			}
		}
		r.patterns = whole(strings.Join(flags, "|"))
		for o := range strings.FieldsSeq(columns[2]) {
			name := strings.TrimRight(o, "?*")
			r.operands = append(r.operands, operand{kindOf(name), name != o, strings.HasSuffix(o, "*"), o == "--"})
		}
		for name := range strings.SplitSeq(columns[0], ",") {
			if name = strings.TrimSpace(name); head == "first" {
				name = "first " + name
			}
			rows[name] = r
		}
	}
	return rows
})

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?s)^(?:` + pattern + `)$`) }

// lookup finds what a simple command does, and the files that it names. Its row is the one with the longest name.
func lookup(words []string) (Effect, []string) {
	rows, a := programs(), arguments{words: words[1:]}
	if first := rows["first "+words[0]]; strings.Contains(words[0], " ") || first != nil && !a.flags(first) {
		return Anything, nil
	}
	var buffer [64]byte
	var known *row
	name, rest := append(buffer[:0], words[0]...), a.words
	for n := 0; ; n++ {
		if r := rows[string(name)]; r != nil {
			known, rest = r, a.words[n:]
		}
		if n == min(3, len(a.words)) || strings.Contains(a.words[n], " ") {
			break
		}
		name = append(append(name, ' '), a.words[n]...)
	}
	if a.words = rest; known == nil || !a.fit(known) {
		return Anything, nil
	}
	return known.effect, a.files
}

// arguments are the words that are still to be compared with a row, and the files that others named.
type arguments struct{ words, files []string }

func (a *arguments) fit(r *row) bool {
	words := make([]string, 0, 16)
	fits := a.flags(r)
	for fits && len(a.words) > 0 && a.words[0] != "--" {
		words, a.words = append(words, a.words[0]), a.words[1:]
		fits = a.flags(r)
	}
	words = append(words, a.words...)
	for _, o := range r.operands {
		n := 0
		for n < len(words) && (n == 0 || o.repeated) && a.is(o.kind, words[n]) {
			n++
		}
		fits = fits && (n > 0 || o.optional || o.dashes && len(words) == 0)
		words = words[n:]
	}
	return fits && len(words) == 0
}

// is compares a word with a kind, and notes a file.
func (a *arguments) is(k kind, word string) bool {
	ok := k.pattern.MatchString(word)
	if ok && k.file {
		a.files = append(a.files, word)
	}
	return ok
}

// flags takes flags with their values: -n 5, -n5, --lines 5 or --lines=5. No letter follows -n: to a program that does
// not glue values, it would be one more flag.
func (a *arguments) flags(r *row) bool {
	for len(a.words) > 0 && strings.HasPrefix(a.words[0], "-") && a.words[0] != "--" {
		w := a.words[0]
		if a.words = a.words[1:]; r.flags[w] || r.patterns.MatchString(w) {
			continue
		}
		name, value, here := strings.Cut(w, "=")
		if len(w) > 2 && r.values[w[:2]].pattern != nil && !unicode.IsLetter(rune(w[2])) {
			name, value, here = w[:2], w[2:], true
		}
		k, ok := r.values[name]
		if ok && !here && len(a.words) > 0 {
			value, here, a.words = a.words[0], true, a.words[1:]
		}
		if !ok || !here || !a.is(k, value) {
			return false
		}
	}
	return true
}
