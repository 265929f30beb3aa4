package command

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed programs.txt
var programsText string

// program is a word of a command's name: "git", and below it "log".
type program struct {
	next  map[string]*program
	first map[string]flag // flags between a program and its subcommand
	row   *row            // nil if the name goes on, as for "git"
}

// row is what is known of a program or subcommand.
type row struct {
	effect   Effect
	install  bool
	anyWords bool // flags are words like others, as for echo
	flags    map[string]flag
	operands []operand
	behind   []operand // those after --
}

type flag struct {
	value   *kind // nil: it takes none
	inWord  bool  // the value is optional and stands in the same word
	letters bool  // it may stand in one word with others
}

type operand struct {
	kind *kind
	many byte // 0, ? or *
}

// kind is what a word has to look like.
type kind struct {
	pattern *regexp.Regexp
	file    bool // it names a file or directory
}

var programs = sync.OnceValue(func() *program { return table(programsText) })

// table reads programs.txt, which says how.
func table(text string) *program {
	root, kinds := &program{}, map[string]*kind{}
	rows := strings.ReplaceAll(text, "\n  ", " ") // an indented line goes on with the one before
	for line := range strings.Lines(rows) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch head {
		case "", "#":
			continue
		case "word", "file":
			name, pattern, _ := strings.Cut(strings.TrimSpace(rest), " ")
			kinds[name] = &kind{regexp.MustCompile(`(?s)^(?:` + strings.TrimSpace(pattern) + `)$`), head == "file"}
			continue
		}
		columns := append(strings.Split(rest, " | "), "", "")
		names, flags, operands := columns[0], columns[1], columns[2]
		before, after, dashes := strings.Cut(" "+operands+" ", " -- ")
		r := &row{flags: map[string]flag{}, anyWords: strings.TrimSpace(operands) == "ANY"}
		for f := range strings.FieldsSeq(flags) {
			addFlag(r.flags, f, kinds)
		}
		if !r.anyWords {
			r.operands = operandsOf(before, kinds)
		}
		if dashes {
			r.behind = operandsOf(after, kinds)
		}
		switch head {
		case "local":
			r.effect = Local
		case "install":
			r.effect, r.install = Anything, true
		}
		for name := range strings.SplitSeq(names, ",") {
			p := root
			for w := range strings.FieldsSeq(name) {
				if p.next[w] == nil {
					if p.next == nil {
						p.next = map[string]*program{}
					}
					p.next[w] = &program{}
				}
				p = p.next[w]
			}
			if head == "first" {
				p.first = r.flags
			} else {
				p.row = r
			}
		}
	}
	return root
}

// addFlag reads --all, -[abc], -n=NUMBER and --color[=WORD].
func addFlag(flags map[string]flag, text string, kinds map[string]*kind) {
	if text == "-" {
		return
	}
	if letters, ok := strings.CutPrefix(text, "-["); ok {
		for _, c := range strings.TrimSuffix(letters, "]") {
			flags["-"+string(c)] = flag{letters: true}
		}
		return
	}
	name, value, inWord := strings.Cut(text, "[=")
	if inWord {
		value = strings.TrimSuffix(value, "]")
	} else {
		name, value, _ = strings.Cut(text, "=")
	}
	flags[name] = flag{value: kindOf(value, kinds), inWord: inWord}
}

func operandsOf(text string, kinds map[string]*kind) []operand {
	var out []operand
	for f := range strings.FieldsSeq(text) {
		var many byte
		if last := f[len(f)-1]; last == '*' || last == '?' {
			f, many = f[:len(f)-1], last
		}
		out = append(out, operand{kindOf(f, kinds), many})
	}
	return out
}

func kindOf(text string, kinds map[string]*kind) *kind {
	switch {
	case text == "":
		return nil
	case text[0] == '/':
		return &kind{pattern: regexp.MustCompile(`(?s)^(?:` + text[1:len(text)-1] + `)$`)}
	case kinds[text] == nil:
		panic("programs.txt: no kind " + text)
	}
	return kinds[text]
}

// lookup finds a simple command in the table, its name, and the files that it names. No row: not in the table.
func lookup(words []string) (known *row, name string, files []string) {
	if len(words) == 0 {
		return nil, "nothing", nil
	}
	p, rest := programs().next[words[0]], words[1:]
	if p == nil {
		return nil, printable(words[0]), nil
	}
	ok := true
	for len(rest) > 0 && ok && p.first != nil && strings.HasPrefix(rest[0], "-") && p.next[rest[0]] == nil {
		rest, files, ok = takeFlag(p.first, rest, files)
	}
	for len(rest) > 0 && p.next[rest[0]] != nil {
		p, rest = p.next[rest[0]], rest[1:]
	}
	name = shown(words)
	if p.row == nil || !ok {
		return nil, name, nil
	}
	if files, ok = p.row.fits(rest, files); !ok {
		return nil, name, nil
	}
	return p.row, name, files
}

// fits reports whether the words after a name are what the row says, and adds the files that they name.
func (r *row) fits(words, files []string) ([]string, bool) {
	if r.anyWords {
		return files, true
	}
	var before []string
	ok := true
	for len(words) > 0 && ok {
		switch {
		case words[0] == "--":
			if r.behind == nil {
				return nil, false
			}
			if files, ok = fit(r.behind, words[1:], files); !ok {
				return nil, false
			}
			words = nil
		case strings.HasPrefix(words[0], "-"):
			words, files, ok = takeFlag(r.flags, words, files)
		default:
			before, words = append(before, words[0]), words[1:]
		}
	}
	if !ok {
		return nil, false
	}
	return fit(r.operands, before, files)
}

func fit(operands []operand, words, files []string) ([]string, bool) {
	for _, o := range operands {
		for n := 0; ; n++ {
			if n == 1 && o.many != '*' {
				break
			}
			if len(words) == 0 || !o.kind.pattern.MatchString(words[0]) {
				if n == 0 && o.many == 0 {
					return nil, false
				}
				break
			}
			if o.kind.file {
				files = append(files, words[0])
			}
			words = words[1:]
		}
	}
	return files, len(words) == 0
}

// takeFlag takes a flag and its value off the words.
func takeFlag(flags map[string]flag, words, files []string) (rest, named []string, ok bool) {
	w, rest := words[0], words[1:]
	name, value, pair := strings.Cut(w, "=")
	f, ok := flags[name]
	switch {
	case pair && ok && len(name) > 2:
	case pair && strings.HasPrefix(w, "--"):
		return nil, nil, false
	case !pair && ok && (f.value == nil || f.inWord):
		return rest, files, true
	case !pair && ok:
		return takeValue(f.value, rest, files)
	case strings.Trim(w[1:], "0123456789") == "" && len(w) > 1:
		_, ok = flags["-NUMBER"]
		return rest, files, ok
	default:
		return takeLetters(flags, w[1:], rest, files)
	}
	if f.value == nil || !f.value.pattern.MatchString(value) {
		return nil, nil, false
	}
	if f.value.file {
		files = append(files, value)
	}
	return rest, files, true
}

// takeLetters is for -rn and -nA3.
func takeLetters(flags map[string]flag, letters string, rest, files []string) (_, named []string, ok bool) {
	for i, c := range letters {
		f, known := flags["-"+string(c)]
		switch {
		case !known || f.value == nil && !f.letters:
			return nil, nil, false
		case f.value == nil || f.inWord && i == len(letters)-1:
			continue
		case i < len(letters)-1:
			_, files, ok = takeValue(f.value, []string{letters[i+1:]}, files)
			return rest, files, ok
		default:
			return takeValue(f.value, rest, files)
		}
	}
	return rest, files, letters != ""
}

func takeValue(k *kind, words, files []string) (rest, named []string, ok bool) {
	if len(words) == 0 || !k.pattern.MatchString(words[0]) {
		return nil, nil, false
	}
	if k.file {
		files = append(files, words[0])
	}
	return words[1:], files, true
}
