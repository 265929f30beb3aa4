package redact

import (
	_ "embed"
	"path"
	"strings"
)

// argumentsTable says which arguments of which programs are secrets. No shell is parsed for it: words are between
// spaces.
//
//go:embed arguments.txt
var argumentsTable string

// argument is a line of the table.
type argument struct {
	after string // a word that must be before, such as login
	flags []string
	how   string
}

// byProgram is the table.
var byProgram = func() map[string][]argument {
	all := map[string][]argument{}
	for line := range strings.Lines(argumentsTable) {
		if w := strings.Fields(line); line[0] != '#' {
			for program := range strings.SplitSeq(w[0], ",") {
				all[program] = append(all[program], argument{strings.Trim(w[1], "-"), strings.Split(w[2], ","), w[3]})
			}
		}
	}
	return all
}()

// arguments reads the words after a program's name.
type arguments struct {
	rows   []argument
	before string // the words so far that rows may ask for
	how    string // of the flag whose value the next word is
}

// of begins with the program, if the table has it.
func (a *arguments) of(program string) {
	if rows := byProgram[path.Base(strings.ReplaceAll(program, `\`, "/"))]; rows != nil {
		*a = arguments{rows: rows}
	}
}

// next returns where in the next word a secret begins, or -1.
func (a *arguments) next(word string) int {
	if how := a.how; how != "" {
		a.how = ""
		return secretIn(word, 0, how)
	}
	for _, r := range a.rows {
		if r.after == word {
			a.before = word
		}
		for _, flag := range r.flags {
			rest, ok := strings.CutPrefix(word, flag)
			long := strings.HasPrefix(flag, "--")
			switch {
			case r.after != a.before && r.after != "":
			case ok && rest == "" && r.how != "glued", r.how == ":" && !long && bundles(word, flag):
				a.how = r.how
				return -1
			case ok && (long && rest != "" && rest[0] == '=' || !long && len(flag) == 2 && r.how != "word"):
				return secretIn(word, len(flag), r.how)
			}
		}
	}
	return -1
}

// bundles is for -sSu: flags of curl of one letter, of which the last is given a word.
func bundles(word, flag string) bool {
	rest, ok := strings.CutSuffix(word, flag[1:])
	return ok && len(rest) > 1 && rest[0] == '-' && strings.Trim(rest[1:], "sSvfLkiIgO") == ""
}

// secretIn returns where a secret begins in a word, from i on, or -1.
func secretIn(word string, i int, how string) int {
	i = skip(word, i, "=", 1)
	if how == "next" || how == "word" || how == "glued" {
		return i
	}
	n := strings.Index(word[i:], how)
	if n < 0 {
		return -1
	}
	return i + n + len(how)
}

const (
	maxWords   = 48 // of a command that are read
	maxCommand = 4096
)

// program looks at the name of a program and reads the words after it, up to the end of the line or of the command.
func (f *finder) program(start, end int) {
	if f.sure || start > 0 && isName(f.s[start-1]) || end == len(f.s) || !isSpace(f.s[end]) {
		return
	}
	a := arguments{rows: byProgram[strings.ToLower(f.s[start:end])]}
	i := end
	for n := 0; n < maxWords && i < end+maxCommand && f.spend(32); n++ {
		for i = skip(f.s, i, " \t", maxCommand); strings.HasPrefix(f.s[i:], "\\\n"); {
			i = skip(f.s, i+2, " \t", maxCommand)
		}
		from, to := value(f.s, i, ' ')
		if from == to {
			break // the line or the command is over
		}
		if at := a.next(f.s[from:to]); at == to-from && to < len(f.s) && isQuote(f.s[to]) { // -p'hunter 2'
			from, to = value(f.s, to, ' ')
			f.hide(flagKind, from, to)
		} else if at >= 0 {
			f.hide(flagKind, from+at, to)
		}
		if i = to; i < len(f.s) && from > 0 && isQuote(f.s[from-1]) && f.s[i] == f.s[from-1] {
			i++
		}
	}
}
