package command

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// arg is a word of a command after a shell has dropped its quotes.
type arg struct {
	text    string // with a zero byte in the place of what is not known
	fixed   bool   // text is all of it, and it is one word
	escapes bool   // of a here-document: a shell takes some backslashes away
	bare    bool   // it may become several words, or none: an expansion without quotes, braces, a pattern, "$@"

	values []string // what it may become, see [variables.values]; nil where that is text alone
}

// may are the texts that the word may become.
func (a *arg) may() []string {
	if a.values == nil {
		return []string{a.text}
	}
	return a.values
}

// option reports whether the word is an option, or may become one.
func (a *arg) option() bool {
	return strings.HasPrefix(a.text, "-") && a.text != "-" || strings.HasPrefix(a.text, "\x00") || a.bare
}

// isOpen reports whether the word may become what is not known, or an option.
func (a *arg) isOpen() bool {
	return slices.ContainsFunc(a.may(), func(v string) bool { return strings.Contains(v, unknown) || strings.HasPrefix(v, "-") })
}

// value reports whether the word can only be the value of the option before it: it stays one word, and does not
// look like an option to a program that takes no value there.
func (a *arg) value() bool { return !a.bare && !strings.HasPrefix(a.text, "-") }

// arg reads a word, and the commands inside of it.
func (r *reader) arg(w *syntax.Word) arg {
	if text, ok := plainText(w.Parts); ok {
		return arg{text: text, fixed: true}
	}
	var b strings.Builder
	a := arg{fixed: true}
	r.parts(&b, &a, w.Parts, false)
	a.text = b.String()
	a.values = r.values(w.Parts)
	return a
}

// plainText is the text of a word that is one literal or quoted text, in which a shell changes nothing. Most words are.
func plainText(parts []syntax.WordPart) (text string, ok bool) {
	if len(parts) != 1 {
		return "", false
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return p.Value, len(p.Value) <= maxPath && !expands(p.Value)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar && len(p.Value) <= maxPath && strings.IndexByte(p.Value, '{') < 0
	case *syntax.DblQuoted:
		text, ok = plainText(p.Parts)
		return text, ok && !p.Dollar
	default:
		return "", false
	}
}

// expands reports whether a literal without quotes may become another text.
func expands(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '\\', '*', '?', '[', '{', '~':
			return true
		}
	}
	return false
}

func (r *reader) parts(b *strings.Builder, a *arg, parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			literal(b, a, p.Value, quoted, i == 0 && b.Len() == 0)
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				if strings.Contains(p.Value, `\'`) || strings.Contains(p.Value, `\\`) {
					r.unknown("quotes") // another shell ends them elsewhere
				}
				a.hide(b, true)
				continue
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				a.hide(b, !many(p))
				r.walk(p)
				continue
			}
			r.parts(b, a, p.Parts, true)
		default: // an expansion
			a.hide(b, quoted && !many(p))
			r.walk(p)
		}
	}
}

// many reports whether an expansion becomes several words in quotes too: "$@", "${a[@]}" and what holds them.
func many(p syntax.WordPart) (found bool) {
	syntax.Walk(p, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok {
			w, _ := e.Index.(*syntax.Word)
			found = found || e.Excl || e.Param != nil && e.Param.Value == "@" || w != nil && w.Lit() == "@"
		}
		return !found
	})
	return found
}

// hide replaces what is not known.
func (a *arg) hide(b *strings.Builder, quoted bool) {
	b.WriteByte(0)
	a.fixed = false
	a.bare = a.bare || !quoted
}

// literal takes backslashes away as bash does, and finds what it would expand.
func literal(b *strings.Builder, a *arg, s string, quoted, start bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if quoted && strings.IndexByte("$`\"\\\n", s[i]) < 0 {
				b.WriteByte('\\')
			}
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case !quoted && (c == '*' || c == '?' || c == '{' || c == '[') && s != "[" && s != "{}" && s != "-I{}":
			if start && b.Len() == 0 {
				b.WriteByte(0) // what it expands to may begin with anything
			}
			b.WriteByte(c)
			a.fixed, a.bare = false, true
		case !quoted && c == '~' && start && i == 0:
			b.WriteByte(c)
			a.fixed = strings.HasPrefix(s, "~/") || s == "~"
		default:
			b.WriteByte(c)
		}
	}
}

// args reads the words of a simple command.
func (r *reader) args(words []*syntax.Word) []arg {
	out := make([]arg, len(words))
	for i, w := range words {
		out[i] = r.arg(w)
	}
	return out
}

// Fold is a text without the difference between small and capital letters of ASCII. Two letters beyond it fold there, too: ſ is an s, and the Kelvin sign a k.
func Fold(text string) string {
	for i := range len(text) {
		if c := text[i]; 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return strings.Map(folded, text)
		}
	}
	return text
}

func folded(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '\u017f':
		return 's'
	case c == '\u212a':
		return 'k'
	}
	return c
}

// name is a program's name as the table has it. HEAD is a name of lwp-request, which fetches; head is another program.
func name(text string) string {
	text = withoutDirectory(text)
	if text == "HEAD" {
		return "lwp-request"
	}
	return strings.TrimSuffix(strings.ToLower(text), ".exe")
}

// isAsWritten reports whether a program is named as it is in the table, in lower case. In other letters it may be another program, but for one of Windows.
func isAsWritten(text string) bool {
	text = withoutDirectory(text)
	lower := strings.ToLower(text)
	return text == lower || strings.HasSuffix(lower, ".exe")
}

func withoutDirectory(text string) string {
	return text[max(strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, '\\'))+1:]
}

// unversioned is a name without the number that it ends in: python for python3.11.
func unversioned(name string) string {
	end := len(name)
	for end > 0 && (name[end-1] == '.' || '0' <= name[end-1] && name[end-1] <= '9') {
		end--
	}
	if end == 0 {
		return name
	}
	return name[:end]
}

// entry is what a table has of a program, by its name or by its name without a version.
func entry[T any](table map[string]T, name string) T {
	found, in := table[name]
	if short := unversioned(name); !in && short != name {
		found = table[short]
	}
	return found
}

// quiet reports whether a word may be shown on a card: it is the agent's text.
func quiet(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for _, c := range []byte(s) {
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._+-:[]", c) >= 0
		if !plain {
			return false
		}
	}
	return true
}

// shown is a word as a card may show it.
func shown(s string) string {
	if quiet(s) {
		return s
	}
	return "a program"
}
