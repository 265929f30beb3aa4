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

// The effects, from the least to the worst.
const (
	Look     Effect = iota // reads what it names, and runs nothing
	Local                  // also runs what the workspace says: builds, tests, git without a remote
	install                // what a package manager installs; a Line has Anything instead
	Anything               // not in the table
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
	longest = 64 << 10    // bytes that are parsed
	deepest = 1000        // brackets in a text that is parsed
	most    = 4 * longest // bytes that are read, those in quotes again
	costs   = 128         // bytes that a simple command counts for
)

// Read reads a command line as a shell would.
func Read(text string) Line {
	r := reader{left: most}
	r.text(text)
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
	r.command(words)
	r.judge(words)
	return r.line(strings.Join(words, " "))
}

type reader struct {
	Line
	left   int // bytes that are still read
	quoted int // how deep in texts that are arguments; these are not judged
}

func (r *reader) worse(effect Effect, why string) {
	if r.quoted == 0 {
		r.Effect, r.Why = max(r.Effect, effect), cmp.Or(r.Why, why)
	}
}

func (r *reader) line(text string) Line {
	if r.left < 0 {
		r.worse(Anything, "The command is too long.")
		r.unparsed(text)
	}
	if r.Install = r.Effect == install; r.Effect < install {
		r.Network = false // what looks like it is an argument
	} else {
		r.Network = r.Network || r.Install || slices.ContainsFunc(r.Words, isAddress)
		r.Effect, r.Paths = Anything, nil
	}
	return r.Line
}

// text reads all words and commands, wherever they stand. Only lists and pipelines of simple commands are known.
func (r *reader) text(text string) { //nolint:gocognit // one switch over the nodes of a line, read top to bottom
	if r.left -= len(text); r.left < 0 || r.plain(text) {
		return
	}
	file := parse(text)
	if file == nil {
		r.worse(Anything, "The command can't be read.")
		r.unparsed(text)
		return
	}
	r.Words = slices.Grow(r.Words, 8+strings.Count(text, " "))
	last, leaves := syntax.BinCmdOperator(0), len(file.Stmts) > 1
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.CmdSubst, *syntax.ProcSubst: // the word is not exact
			r.Joined = true
		case *syntax.Word:
			if r.word(spell(n)); !isExact(source(text, n)) {
				r.worse(Anything, "It has a word that the shell fills in.")
			}
		case *syntax.Redirect:
			if !drops.MatchString(source(text, n)) {
				r.worse(Anything, "It reads or writes a file by redirection.")
			}
		case *syntax.BinaryCmd:
			last, leaves = n.Op, leaves || n.Op != syntax.AndStmt && n.Op != syntax.Pipe
			r.Joined = r.Joined || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CallExpr:
			words := make([]string, len(n.Args))
			for i, w := range n.Args {
				words[i] = spell(w)
			}
			if len(words) == 0 {
				break // it sets a variable
			} else if len(r.Programs) == 0 && last == syntax.AndStmt && goes(words) {
				r.Dir = words[1]
			} else {
				r.judge(words)
			}
			r.command(words)
		case *syntax.Stmt:
			if n.Background || n.Negated || n.Coprocess {
				r.worse(Anything, "It is more than a list of plain commands.")
			}
		default:
			r.worse(Anything, "It is more than a list of plain commands.")
		}
		return true
	})
	if len(file.Stmts) == 0 {
		r.worse(Anything, "It has no command.")
	} else if r.Dir != "" && leaves {
		r.judge([]string{"cd"})
	}
}

// plain reads a line that is known and has nothing but plain words, && and |, with one blank between them. It needs no
// parser, which would say the same: to a shell, no word with which a known command begins has another meaning.
func (r *reader) plain(text string) bool {
	if r.quoted > 0 || len(text) > longest {
		return false
	}
	words, from, line := strings.Split(text, " "), 0, Line{}
	for i := 0; i <= len(words); i++ {
		end := i == len(words)
		if !end && words[i] != "&&" && words[i] != "|" {
			if !isPlain(words[i]) {
				return false
			}
			continue
		}
		one := words[from:i:i]
		if from == 0 && !end && words[i] == "&&" && goes(one) {
			line.Dir = one[1]
		} else if effect, files := lookup(one); effect >= install {
			return false
		} else {
			line.Effect, line.Paths = max(line.Effect, effect), append(line.Paths, files...)
		}
		line.Commands, line.Joined, from = append(line.Commands, one), line.Joined || !end && words[i] == "|", i+1
	}
	r.Effect, r.Dir, r.Paths, r.Joined = line.Effect, line.Dir, line.Paths, line.Joined
	r.Words = make([]string, 0, 8+len(words))
	for _, one := range line.Commands {
		r.command(one)
		for _, w := range one {
			r.word(w)
		}
	}
	return true
}

func source(text string, n syntax.Node) string {
	return text[n.Pos().Offset():min(n.End().Offset(), uint(len(text)))]
}

// exact is for a word that means the same to every shell: plain characters, '…' and "…". A tilde must not begin it, nor
// follow : or =, and = must not begin it; "$^x" is a variable to zsh.
var exact = regexp.MustCompile(strings.ReplaceAll(`^(PART|:)(PART|[:=])*$`, "PART",
	`(?:[\w./+,@%-]|'[^']*'|"(?:[^"$`+"\\x60"+`\\!]|\\[^\\$`+"\\x60"+`"\n!])*\$?")~*`))

func isExact(word string) bool { return isPlain(word) || exact.MatchString(word) }

// isPlain is for most words: they hold nothing but plain characters.
func isPlain(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c|' ' < 'a' || c|' ' > 'z') && (c < '+' || c > '9') && c != '_' {
			return false
		}
	}
	return word != ""
}

var drops = regexp.MustCompile(`^[12]?>(&[12]|\s*/dev/null)$`)

// goes is for cd DIR. - and +1 are directories where the shell was before.
func goes(words []string) bool {
	return len(words) == 2 && words[0] == "cd" && words[1] != "" && strings.IndexAny(words[1], "-+") != 0
}

// judge compares a simple command with the table.
func (r *reader) judge(words []string) {
	effect, files := lookup(words)
	r.Paths = append(r.Paths, files...)
	if effect < install {
		r.worse(effect, "")
		return
	}
	shown := name(words)
	why := "`" + shown + "` is not on the list of known commands."
	switch {
	case effect == install:
		why = "`" + shown + "` installs packages."
	case words[0] == "cd":
		why = "It changes the directory on the way."
	case programs()[shown] != nil:
		why = "`" + shown + "` is on the list of known commands, but not with these arguments."
	}
	r.worse(effect, why)
}

// spell returns a word without its quotes and backslashes. A variable keeps its name.
func spell(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		if lit, plain := w.Parts[0].(*syntax.Lit); plain && !strings.Contains(lit.Value, `\`) {
			return lit.Value
		}
	}
	var b strings.Builder
	spellParts(&b, w.Parts, false)
	return b.String()
}

func spellParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if v := p.Value; quoted {
				b.WriteString(v)
			} else {
				b.WriteString(strings.ReplaceAll(strings.ReplaceAll(v, "\\\n", ""), `\`, ""))
			}
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			spellParts(b, p.Parts, true)
		case *syntax.ParamExp:
			if p.Param != nil {
				b.WriteString("$" + p.Param.Value)
			}
		}
	}
}

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// hash finds a comment that the parser, unlike a shell, takes to go on in the next line.
var hash = regexp.MustCompile(`(^|[\s;&|()\x60])#.*\\\n`)

// parse returns nil for what is no shell text, too long or too deep.
func parse(text string) *syntax.File {
	brackets := 0
	bad := func(c rune) bool {
		switch c {
		case '(', '{', '[', '`':
			brackets++
		}
		return brackets > deepest || c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == unicode.ReplacementChar
	}
	if len(text) > longest || strings.ContainsFunc(text, bad) || strings.Contains(text, "#") && hash.MatchString(text) {
		return nil
	}
	p := parsers.Get().(*syntax.Parser) //nolint:errcheck // the pool makes nothing else
	defer parsers.Put(p)
	if file, err := p.Parse(strings.NewReader(text), ""); err == nil {
		return file
	}
	return nil
}
