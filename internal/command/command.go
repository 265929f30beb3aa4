// Package command says what a shell command is known to do, by one table (programs.txt). Text can't say what a program
// does: a command that does not fit the table can do anything.
//
// What is read for an allow (Effect, Dir, Paths) is read strictly: one meaning in sh, bash and zsh, or none. What only
// makes things worse (Words, Commands, Network, Joined) is read loosely, also from a text that does not parse.
package command

import (
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
)

// Line is a command line as far as its text tells. The zero Line says nothing: it comes from [Read] or [Argv].
type Line struct {
	Effect   Effect
	Programs []string   // "git log", in order
	Commands [][]string // the words of each simple command; what sudo, env, sh -c and their like run has its own entries
	Dir      string     // where a known line runs, if it begins with cd, as written
	Paths    []string   // the words of a known line that name files or directories, as written
	Words    []string   // every word of it and of the texts quoted in it
	Network  bool       // it reaches the network, by the short list in network.txt or a URL
	Joined   bool       // it has a pipe or a substitution
	Install  bool       // it is not known only because it has a package manager install what the workspace or it names
	Why      string     // what is not known, as a sentence
}

const (
	longest  = 64 << 10 // bytes that are parsed
	deepest  = 200      // brackets and other beginnings of nested commands in a text
	most     = 512      // simple commands that are read
	inQuotes = 3        // sh -c "sh -c '…'"
)

// Read reads a command line as a shell would.
func Read(text string) Line {
	r := reader{left: most}
	if file := r.text(text, 0); file != nil {
		r.known(file)
	} else {
		r.unknown("The command can't be read.")
	}
	return r.line()
}

// Argv reads a program with its arguments, which no shell touches.
func Argv(words []string) Line {
	r := reader{left: most}
	for _, w := range words {
		r.word(w)
	}
	r.command(words, 0)
	r.judge(words)
	return r.line()
}

type reader struct {
	Line
	left     int  // how many simple commands are still read
	opaque   bool // something is unknown that is not an install
	installs bool
}

func (r *reader) line() Line {
	r.Install = r.installs && !r.opaque
	if r.Effect != Anything {
		r.Network = false // the table knows better than a word of an argument
	} else {
		r.Paths = nil
		r.Network = r.Network || r.installs || slices.ContainsFunc(r.Words, isAddress)
	}
	return r.Line
}

func (r *reader) unknown(why string) {
	r.opaque = true
	r.worse(why)
}

func (r *reader) worse(why string) {
	if r.Effect = Anything; r.Why == "" {
		r.Why = why
	}
}

// known follows lists and pipelines of simple commands, and nothing else.
func (r *reader) known(file *syntax.File) {
	var calls []*syntax.CallExpr
	var joins []syntax.BinCmdOperator
	var follow func(s *syntax.Stmt)
	follow = func(s *syntax.Stmt) {
		if slices.ContainsFunc(s.Redirs, func(d *syntax.Redirect) bool { return !drops(d) }) {
			r.unknown("It reads or writes a file by redirection.")
			return
		}
		plain := !s.Background && !s.Negated && !s.Coprocess && !s.Disown
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if plain && len(s.Redirs) == 0 {
				follow(c.X)
				joins = append(joins, c.Op)
				follow(c.Y)
				return
			}
		case *syntax.CallExpr:
			if plain {
				calls = append(calls, c)
				return
			}
		}
		r.unknown("It is more than a list of plain commands.")
	}
	for _, s := range file.Stmts {
		follow(s)
	}
	if len(calls) == 0 {
		r.unknown("It has no command.")
	}
	for i, c := range calls {
		words, ok := literals(c.Args)
		switch {
		case r.opaque:
			return
		case len(c.Assigns) > 0:
			r.unknown("It sets a variable.")
		case !ok:
			r.unknown("It has a word that the shell fills in.")
		case words[0] != "cd":
			r.judge(words)
		case i == 0 && len(words) == 2 && words[1] != "" && words[1][0] != '-' && len(file.Stmts) == 1 && follows(joins):
			r.Dir = words[1]
		default:
			r.unknown("It changes the directory on the way.")
		}
	}
}

// follows reports whether what comes after "cd DIR" runs there and only there.
func follows(joins []syntax.BinCmdOperator) bool {
	return len(joins) > 0 && joins[0] == syntax.AndStmt &&
		!slices.ContainsFunc(joins, func(op syntax.BinCmdOperator) bool { return op != syntax.AndStmt && op != syntax.Pipe })
}

// drops is for 2>&1, >/dev/null and 2>/dev/null.
func drops(d *syntax.Redirect) bool {
	to, ok := literal(d.Word)
	switch {
	case !ok || d.N != nil && d.N.Value != "1" && d.N.Value != "2":
		return false
	case d.Op == syntax.DplOut:
		return to == "1" || to == "2"
	}
	return d.Op == syntax.RdrOut && to == "/dev/null"
}

// judge compares a simple command with the table.
func (r *reader) judge(words []string) {
	row, name, files := lookup(words)
	switch {
	case row == nil:
		r.unknown("`" + name + "` is not on the list of known commands.")
	case row.install:
		r.installs = true
		r.worse("`" + name + "` installs packages.")
	default:
		r.Effect = max(r.Effect, row.effect)
		r.Paths = append(r.Paths, files...)
	}
}

func literals(args []*syntax.Word) ([]string, bool) {
	words := make([]string, len(args))
	for i, w := range args {
		var ok bool
		if words[i], ok = literal(w); !ok {
			return nil, false
		}
	}
	return words, len(words) > 0
}

// literal is a word that no shell changes.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	plain := func(s string) bool { return !strings.ContainsFunc(s, changes) }
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			v := p.Value
			if !plain(v) || i == 0 && (v[0] == '~' || v[0] == '=') || strings.Contains(v, "=~") || strings.Contains(v, ":~") {
				return "", false
			}
			b.WriteString(v)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				l, ok := in.(*syntax.Lit)
				if !ok || p.Dollar || escapes(l.Value) {
					return "", false
				}
				b.WriteString(l.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// changes is for what stands for itself in no shell, or not in each.
func changes(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./-+:,@%=^~", c)
}

// escapes reports whether a text between double quotes is not what it looks like.
func escapes(s string) bool {
	for i := range len(s) {
		if s[i] == '!' || s[i] == '\\' && (i+1 == len(s) || strings.IndexByte("\\$`\"\n", s[i+1]) >= 0) {
			return true
		}
	}
	return false
}

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

func parse(text string) *syntax.File {
	nested := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "[") + strings.Count(text, "`")
	if len(text) > longest || nested > deepest || strings.ContainsFunc(text, isControl) {
		return nil
	}
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	file, err := p.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return file
}

func isControl(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == unicode.ReplacementChar
}
