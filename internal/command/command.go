// Package command says what a shell command is known to do, by one table (programs.txt). Text can't say what a program
// does: a command that does not fit the table can do anything.
//
// What an allow rests on (Effect, Dir, Paths) is read strictly: a word has one meaning in sh, bash and zsh, or none.
// What only makes things worse (Words, Commands, Network, Joined) is read loosely, from any text.
package command

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Effect is what a command can do at most. Larger is worse.
type Effect uint8

const (
	Look     Effect = iota // reads what it names, and runs nothing
	Local                  // also runs what the workspace says: builds, tests, git without a remote
	Anything               // not in the table
	install                // in the table only: what a package manager installs
)

// Line is a command line as far as its text tells. It comes from [Read] or [Argv].
type Line struct {
	Effect   Effect
	Programs []string   // "git log", in order
	Commands [][]string // the words of each simple command, and of what sudo, env, sh -c and their like run
	Dir      string     // where a known line runs, if it begins with cd, as written
	Paths    []string   // the words of a known line that name files or directories, as written
	Words    []string   // every word of it and of the texts quoted in it
	Network  bool       // it is not known, and reaches the network by network.txt or a URL
	Joined   bool       // it has a pipe or a substitution
	Install  bool       // it is not known only because a package manager installs what it or the workspace names
	Why      string     // what is not known, as a sentence
}

const (
	longest  = 64 << 10    // bytes that are parsed
	deepest  = 1000        // brackets in a text that is parsed
	most     = 4 * longest // bytes that are read, those in quotes again
	costs    = 128         // bytes that a simple command counts for
	inQuotes = 3           // sh -c "sh -c '…'"
)

// Read reads a command line as a shell would.
func Read(text string) Line {
	r := reader{left: most}
	if file := r.text(text, 0); file != nil {
		r.list(file)
	} else {
		r.unknown("The command can't be read.")
		r.Joined = strings.ContainsAny(text, "|`(")
	}
	return r.line(text)
}

// Argv reads a program with its arguments, which no shell touches.
func Argv(words []string) Line {
	if len(words) == 0 {
		return Read("")
	}
	r := reader{left: most}
	for _, w := range words {
		r.word(w)
	}
	r.command(words, 0)
	r.judge(words)
	return r.line(strings.Join(words, " "))
}

type reader struct {
	Line
	left   int  // bytes that are still read
	opaque bool // something is not known that is no install
}

func (r *reader) line(text string) Line {
	if r.left < 0 {
		r.unknown("The command is too long.")
		r.unparsed(text)
	}
	r.Install = r.Effect == install && !r.opaque
	if r.opaque || r.Effect == install {
		r.Network = r.Network || r.Effect == install || slices.ContainsFunc(r.Words, isAddress)
		r.Effect, r.Paths = Anything, nil
	} else {
		r.Network = false // what looks like it is an argument
	}
	return r.Line
}

func (r *reader) unknown(why string) {
	r.opaque, r.Why = true, cmp.Or(r.Why, why)
}

// list follows lists and pipelines of simple commands, and nothing else.
func (r *reader) list(file *syntax.File) {
	var joins []syntax.BinCmdOperator
	var follow func(s *syntax.Stmt)
	follow = func(s *syntax.Stmt) {
		list, _ := s.Cmd.(*syntax.BinaryCmd)
		call, _ := s.Cmd.(*syntax.CallExpr)
		switch {
		case slices.ContainsFunc(s.Redirs, func(d *syntax.Redirect) bool { return !drops(d) }):
			r.unknown("It reads or writes a file by redirection.")
		case s.Background || s.Negated || s.Coprocess || list == nil && call == nil:
			r.unknown("It is more than a list of plain commands.")
		case list != nil:
			follow(list.X)
			joins = append(joins, list.Op)
			follow(list.Y)
		case len(call.Assigns) > 0:
			r.unknown("It sets a variable.")
		default:
			words, exact := spell(call.Args)
			switch {
			case !exact:
				r.unknown("It has a word that the shell fills in.")
			case words[0] == "cd" && len(words) == 2 && len(joins) == 0 && len(file.Stmts) == 1:
				r.Dir = words[1]
			default:
				r.judge(words)
			}
		}
	}
	for _, s := range file.Stmts {
		follow(s)
	}
	leaves := func(op syntax.BinCmdOperator) bool { return op != syntax.AndStmt && op != syntax.Pipe }
	switch {
	case len(file.Stmts) == 0:
		r.unknown("It has no command.")
	case r.Dir == "": // it stays where it starts
	case r.Dir[0] == '-' || len(joins) == 0 || joins[0] != syntax.AndStmt || slices.ContainsFunc(joins, leaves):
		r.unknown("It changes the directory on the way.")
	}
}

// drops is for 2>&1, >/dev/null and 2>/dev/null.
func drops(d *syntax.Redirect) bool {
	if d.N != nil && d.N.Value != "1" && d.N.Value != "2" {
		return false
	}
	to := d.Word.Lit()
	return d.Op == syntax.DplOut && (to == "1" || to == "2") || d.Op == syntax.RdrOut && to == "/dev/null"
}

// judge compares a simple command with the table.
func (r *reader) judge(words []string) {
	row, files := lookup(words)
	shown := "`" + name(words) + "`"
	switch {
	case row == nil && programs().rows[name(words)] != nil:
		r.unknown(shown + " is on the list of known commands, but not with these arguments.")
	case row == nil:
		r.unknown(shown + " is not on the list of known commands.")
	case row.effect == install:
		r.Why = cmp.Or(r.Why, shown+" installs packages.")
		fallthrough
	default:
		r.Effect = max(r.Effect, row.effect)
		r.Paths = append(r.Paths, files...)
	}
}

// spell returns words without their quotes and backslashes; a variable keeps its name. They are exact if each means the
// same to every shell.
func spell(args []*syntax.Word) (words []string, exact bool) {
	words, exact = make([]string, len(args)), len(args) > 0
	for i, w := range args {
		var same bool
		words[i], same = spelled(w)
		exact = exact && same
	}
	return words, exact
}

func spelled(w *syntax.Word) (text string, exact bool) {
	if text = w.Lit(); text != "" && isSame(text) {
		return text, true
	}
	var b strings.Builder
	exact = spellParts(&b, w.Parts, false)
	return b.String(), exact
}

func spellParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	exact := true
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			v := p.Value
			if quoted {
				exact = exact && !escapes.MatchString(v)
			} else {
				exact = exact && (isSame(v) || i > 0 && isSame("x"+v))
				v = strings.ReplaceAll(strings.ReplaceAll(v, "\\\n", ""), `\`, "")
			}
			b.WriteString(v)
		case *syntax.SglQuoted:
			exact = exact && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			exact = spellParts(b, p.Parts, true) && exact && !p.Dollar
		case *syntax.ParamExp:
			exact = false
			if p.Param != nil {
				b.WriteString("$" + p.Param.Value)
			}
		default:
			exact = false
		}
	}
	return exact
}

// isSame is for a word without quotes that means itself in every shell.
func isSame(word string) bool {
	return strings.IndexAny(word, "~=") != 0 && !strings.Contains(word, "=~") && !strings.Contains(word, ":~") &&
		!strings.ContainsFunc(word, changes)
}

func changes(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./-+:,@%=^~", c)
}

// escapes finds what is not what it looks like between double quotes.
var escapes = regexp.MustCompile("!|\\\\([\\\\$`\"\n]|$)")

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// parse returns nil for what is no shell text, too long or too deep.
func parse(text string) *syntax.File {
	brackets := 0
	for _, b := range []string{"(", "{", "[", "`"} {
		brackets += strings.Count(text, b)
	}
	if len(text) > longest || brackets > deepest || strings.ContainsFunc(text, isControl) {
		return nil
	}
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	if file, err := p.Parse(strings.NewReader(text), ""); err == nil {
		return file
	}
	return nil
}

func isControl(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == unicode.ReplacementChar
}
