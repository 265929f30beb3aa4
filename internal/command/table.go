package command

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// row is what is known of a program or subcommand.
type row struct {
	effect   Effect
	flags    *regexp.Regexp   // those without a value
	values   map[string]*kind // those with one
	operands []operand
}

type operand struct {
	*kind
	optional, repeated, dashes bool
}

// kind is what a word has to look like.
type kind struct {
	pattern *regexp.Regexp
	file    bool // it names a file or directory
}

//go:embed programs.txt
var programsText string

type table struct {
	rows  map[string]*row // by name: "git log"
	first map[string]*row // flags before a subcommand, by program
	subs  map[string]bool // programs with subcommands
}

var programs = sync.OnceValue(func() *table { return readTable(programsText) })

// readTable reads programs.txt, which says how. It panics at an error: the text is ours.
func readTable(text string) *table {
	t := &table{map[string]*row{}, map[string]*row{}, map[string]bool{}}
	kinds := map[string]*kind{"--": {pattern: whole("--")}}
	effects := map[string]Effect{"look": Look, "local": Local, "first": Anything, "install": install}
	for line := range strings.Lines(strings.ReplaceAll(text, "\n  ", " ")) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch head {
		case "", "#":
			continue
		case "word", "file":
			f := strings.Fields(rest)
			kinds[f[0]] = &kind{whole(f[1]), head == "file"}
			continue
		}
		effect, ok := effects[head]
		if !ok {
			panic("programs.txt: no effect " + head)
		}
		columns := append(strings.Split(rest, " | "), "", "")
		r := &row{effect: effect, values: map[string]*kind{}}
		var flags []string
		for f := range strings.FieldsSeq(columns[1]) {
			if name, value, takes := strings.Cut(f, ":"); takes {
				r.values[name] = kindOf(value, kinds)
			} else {
				flags = append(flags, f)
			}
		}
		r.flags = whole(strings.Join(flags, "|"))
		for o := range strings.FieldsSeq(columns[2]) {
			name := strings.TrimRight(o, "?*")
			repeated := strings.HasSuffix(o, "*")
			r.operands = append(r.operands, operand{kindOf(name, kinds), name != o, repeated, o == "--"})
		}
		for name := range strings.SplitSeq(columns[0], ",") {
			name = strings.TrimSpace(name)
			if head == "first" {
				t.first[name] = r
				continue
			}
			t.rows[name] = r
			program, _, sub := strings.Cut(name, " ")
			t.subs[program] = t.subs[program] || sub
		}
	}
	return t
}

func kindOf(name string, kinds map[string]*kind) *kind {
	if len(name) > 1 && name[0] == '/' {
		return &kind{pattern: whole(name[1 : len(name)-1])}
	}
	if kinds[name] == nil {
		panic("programs.txt: no kind " + name)
	}
	return kinds[name]
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?s)^(?:` + pattern + `)$`) }

// lookup finds a simple command in the table, and the files that it names. Without a row it is not known.
func lookup(words []string) (*row, []string) {
	t, a := programs(), arguments{words: words[1:]}
	for first := t.first[words[0]]; first != nil && a.atFlag() && t.rows[words[0]+" "+a.words[0]] == nil; {
		if !a.takeFlag(first) {
			return nil, nil
		}
	}
	for n := min(2, len(a.words)); n >= 0; n-- { // the longest name
		name := strings.Join(append([]string{words[0]}, a.words[:n]...), " ")
		if r := t.rows[name]; r != nil && strings.Count(name, " ") == n {
			if a.words = a.words[n:]; a.fit(r) {
				return r, a.files
			}
			break
		}
	}
	return nil, nil
}

// arguments are the words that are still to be compared with a row, and the files that others named.
type arguments struct{ words, files []string }

func (a *arguments) atFlag() bool { return len(a.words) > 0 && strings.HasPrefix(a.words[0], "-") }

func (a *arguments) take() string {
	w := a.words[0]
	a.words = a.words[1:]
	return w
}

func (a *arguments) fit(r *row) bool {
	var operands []string
	for len(a.words) > 0 && a.words[0] != "--" {
		if !a.atFlag() {
			operands = append(operands, a.take())
		} else if !a.takeFlag(r) {
			return false
		}
	}
	a.words = append(operands, a.words...)
	for _, o := range r.operands {
		if o.dashes && len(a.words) == 0 {
			break
		}
		some := false
		for len(a.words) > 0 && (!some || o.repeated) && a.is(o.kind, a.words[0]) {
			a.take()
			some = true
		}
		if !some && !o.optional {
			return false
		}
	}
	return len(a.words) == 0
}

// is compares a word with a kind, and notes a file.
func (a *arguments) is(k *kind, word string) bool {
	ok := k.pattern.MatchString(word)
	if ok && k.file {
		a.files = append(a.files, word)
	}
	return ok
}

// takeFlag takes a flag and its value: -n 5, -n5, --lines 5 or --lines=5.
func (a *arguments) takeFlag(r *row) bool {
	w := a.take()
	if r.flags.MatchString(w) {
		return true
	}
	name, value, here := strings.Cut(w, "=")
	if len(w) > 2 && w[1] != '-' && r.values[name] == nil {
		name, value, here = w[:2], w[2:], true
	}
	k := r.values[name]
	if k != nil && !here && len(a.words) > 0 {
		value, here = a.take(), true
	}
	return k != nil && here && a.is(k, value)
}
