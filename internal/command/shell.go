package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Why a line is no list of plain commands.
const (
	unreadable = "The command can't be read."
	empty      = "It has no command."
	redirected = "It reads or writes a file by redirection."
	filledIn   = "It has a word that the shell fills in."
	compound   = "It is more than a list of plain commands."
)

// simple is a command of a list, with what joins it to the one before.
type simple struct {
	joint string
	words []string
}

// split reads a line that is a list or pipeline of plain commands: of words that mean the same to sh, bash and zsh, and
// redirections that drop what is printed. It says why a line is none. The parser agrees, which takes longer.
func split(text string) (_ []simple, why string) {
	if len(text) > longest || strings.ContainsFunc(text, isOdd) {
		return nil, unreadable
	}
	spaces, from := strings.Count(text, " "), 0
	list, words := make([]simple, 0, 1+spaces/4), make([]string, 0, 1+spaces)
	for joint := ""; ; {
		text = skip(text)
		next := jointOf(text)
		switch {
		case len(words) > from && (next != "" || text == ""):
			list = append(list, simple{joint, words[from:len(words):len(words)]})
			from, joint, text = len(words), next, text[len(next):]
		case next == "\n":
			text = text[1:]
		case next != "" || text == "" && (joint == "&&" || joint == "||" || joint == "|"):
			return nil, unreadable
		case text == "" && len(list) == 0:
			return nil, empty
		case text == "":
			return list, ""
		case strings.Contains(text[:min(2, len(text))], ">"):
			if text, why = dropped(text); why != "" {
				return nil, why
			}
		default:
			if words, text, why = addWord(words, text, len(words) == from); why != "" {
				return nil, why
			}
		}
	}
}

// addWord adds the next word. The first of a command is no keyword and no assignment.
func addWord(words []string, text string, first bool) (all []string, rest, why string) {
	word, rest, why := cutWord(text)
	if why == "" && first && (slices.Contains(reserved, word) || strings.Contains(word, "=")) {
		why = compound
	}
	return append(words, word), rest, why
}

// skip goes to the next word or joint.
func skip(text string) string {
	for {
		text = strings.TrimLeft(text, " \t")
		switch {
		case strings.HasPrefix(text, "\\\n"):
			text = text[2:]
		case strings.HasPrefix(text, "#"):
			text = strings.TrimLeftFunc(text, func(c rune) bool { return c != '\n' })
		default:
			return text
		}
	}
}

func jointOf(text string) string {
	switch {
	case strings.HasPrefix(text, "&&"), strings.HasPrefix(text, "||"):
		return text[:2]
	case text != "" && (text[0] == '|' || text[0] == ';' || text[0] == '\n'):
		return text[:1]
	}
	return ""
}

// dropped goes behind a redirection that drops what is printed.
func dropped(text string) (rest, why string) {
	found := drops.FindString(text)
	if rest = text[len(found):]; found == "" || rest != "" && !endsWord(rest[0]) {
		return "", redirected
	}
	return rest, ""
}

var drops = regexp.MustCompile(`^[12]?>(&[12]|[ \t]*/dev/null)`)

// reserved has the words with which a command begins that is no plain one.
var reserved = strings.Fields("if then elif else fi while until for select do done case esac function time coproc " +
	"declare local export readonly typeset nameref let")

// cutWord reads plain characters, '…' and "…". A tilde must not begin a word, nor follow : or =, and = must not begin
// it; "$^x" is a variable to zsh.
func cutWord(text string) (word, rest, why string) {
	var spelled []byte
	from, end := 0, 0 // of what is not spelled yet
	for end < len(text) && (end == 0 || !endsWord(text[end])) {
		switch c := text[end]; {
		case c == '\'' || c == '"':
			quoted, _, closed := strings.Cut(text[end+1:], text[end:end+1])
			if !closed || c == '"' && strings.ContainsAny(quoted, "$`\\!") && !plainQuoted.MatchString(quoted) {
				return "", "", filledIn
			}
			spelled = append(append(spelled, text[from:end]...), quoted...)
			end += len(quoted) + 2
			from = end
		case isPlain(rune(c)) && (c != '=' || end > 0), c == '~' && end > 0 && text[end-1] != ':' && text[end-1] != '=':
			end++
		case c == '<' || c == '>':
			return "", "", redirected
		case strings.IndexByte("(){}!&", c) >= 0:
			return "", "", compound
		default:
			return "", "", filledIn
		}
	}
	if word = text[:end]; from > 0 {
		word = string(append(spelled, text[from:end]...))
	}
	return word, text[end:], ""
}

// plainQuoted is for what stands between two " and means the same to every shell.
var plainQuoted = regexp.MustCompile(`^(?:[^$\x60\\!]|\\[^\\$\x60\n!])*\$?$`)

func endsWord(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '&' || c == '|' || c == ';'
}

// isPlain is for characters that mean themselves nearly everywhere in a word.
func isPlain(c rune) bool {
	return c|' ' >= 'a' && c|' ' <= 'z' || c >= '+' && c <= ':' || c == '_' || c == '=' || c == '@' || c == '%'
}

// isOdd is for characters that programs and shells drop, or take for the end.
func isOdd(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == unicode.ReplacementChar
}

// hash finds a comment that the parser, unlike a shell, takes to go on in the next line.
var hash = regexp.MustCompile(`(^|[\s;&|()\x60])#.*\\\n`)

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// parse returns nil for what is no shell text, too long or too deep.
func parse(text string) *syntax.File {
	brackets := 0
	for _, c := range "({[`" {
		brackets += strings.Count(text, string(c))
	}
	if len(text) > longest || brackets > deepest || strings.ContainsFunc(text, isOdd) || hash.MatchString(text) {
		return nil
	}
	p := parsers.Get().(*syntax.Parser) //nolint:errcheck // the pool makes nothing else
	defer parsers.Put(p)
	if file, err := p.Parse(strings.NewReader(text), ""); err == nil {
		return file
	}
	return nil
}

// search notes all words and commands of a text, wherever they are, without their quotes and backslashes.
func (r *reader) search(text string, file *syntax.File) {
	spell := func(w *syntax.Word) string {
		return quotes.Replace(text[w.Pos().Offset():min(w.End().Offset(), uint(len(text)))])
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			r.Joined = true
		case *syntax.BinaryCmd:
			r.Joined = r.Joined || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.Word:
			r.word(spell(n))
		case *syntax.CallExpr:
			words := make([]string, len(n.Args))
			for i, w := range n.Args {
				words[i] = spell(w)
			}
			if len(words) > 0 {
				r.simple(words, true)
			}
		}
		return true
	})
}

var quotes = strings.NewReplacer("\\\n", "", `\`, "", `$'`, "", `$"`, "", `'`, "", `"`, "")
