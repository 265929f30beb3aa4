package discordtest

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Rendered is a text as a person sees it.
type Rendered struct {
	Text   string   // without the signs of markup
	Active []string // what links or mentions
	Mono   []string // the texts in code
}

// Render reads Discord's markup as its clients do: escapes, code, links,
// mentions, styles and what begins a line. Where clients differ it takes for
// markup what any of them might. Characters without width can't be seen.
func Render(s string) Rendered {
	var r renderer
	r.read(s)
	for i := range r.mono {
		r.mono[i] = visible(r.mono[i])
	}
	return Rendered{Text: visible(r.text.String()), Active: r.active, Mono: r.mono}
}

func visible(s string) string { return strings.ReplaceAll(s, "\u200b", "") }

var (
	escape    = regexp.MustCompile(`^\\([^0-9A-Za-z\s])`)
	fence     = regexp.MustCompile("(?i)^```(?:[a-z0-9_+.#-]+?\n)?\n*([^\n][\\s\\S]*?)\n*```")
	lineStart = regexp.MustCompile(`^ *(?:#{1,3}|-#|>>>|>|[-*+]|[0-9]+\.)[ \t]+`)
	active    = regexp.MustCompile(`^(?:<https?://[^ >]+>|https?://[^\s<]+|<(?:@!?|@&|#|a?:\w+:|t:|/|id:|mailto:|tel:|\+)[^>\s]*>|@everyone|@here|discord\.gg/\w+)`)
	masked    = regexp.MustCompile(`^\[([^\]]+)\]\((?:<[^>]*>|[^)\s]*)[^)]*\)`)
)

// first are the characters with which markup begins.
const first = "\\`<hd@[*_~|"

// styles are the signs around what is emphasised, the longer first.
var styles = []string{"***", "**", "__", "~~", "||", "*", "_"}

type renderer struct {
	text         strings.Builder
	active, mono []string
}

func (r *renderer) read(s string) {
	for begins := true; s != ""; {
		if begins {
			s = s[len(lineStart.FindString(s)):]
		}
		if s == "" {
			return
		}
		begins = false
		n := 0
		if strings.IndexByte(first, s[0]) >= 0 {
			n = r.token(s)
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			r.text.WriteString(s[:n])
			begins = s[0] == '\n'
		}
		s = s[n:]
	}
}

// token reads markup at the beginning and gives its length; 0 if there is none.
func (r *renderer) token(s string) int {
	if m := escape.FindStringSubmatch(s); m != nil {
		r.text.WriteString(m[1])
		return len(m[0])
	}
	if m := fence.FindStringSubmatch(s); m != nil {
		return r.code(m[1], len(m[0]))
	}
	if s[0] == '`' {
		inner, n := inlineCode(s)
		return r.code(inner, n)
	}
	if m := active.FindString(s); m != "" {
		return r.does(m, m)
	}
	if m := masked.FindStringSubmatch(s); m != nil {
		return r.does(m[0], m[1])
	}
	for _, style := range styles {
		if inner, n := between(s, style); n > 0 {
			r.read(inner)
			return n
		}
	}
	return 0
}

// does is something that links or mentions, and what of it can be read.
func (r *renderer) does(what, text string) int {
	r.active = append(r.active, what)
	r.text.WriteString(text)
	return len(what)
}

func (r *renderer) code(inner string, n int) int {
	if n > 0 {
		r.mono = append(r.mono, inner)
		r.text.WriteString(inner)
	}
	return n
}

// inlineCode ends where as many backticks stand as it begins with.
func inlineCode(s string) (inner string, n int) {
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	for i := ticks; i < len(s); {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			return "", 0
		}
		run := len(s[i+j:]) - len(strings.TrimLeft(s[i+j:], "`"))
		if run == ticks {
			return s[ticks : i+j], i + j + run
		}
		i += j + run
	}
	return "", 0
}

// between is the text between two signs of a style.
func between(s, style string) (inner string, n int) {
	if !strings.HasPrefix(s, style) {
		return "", 0
	}
	for i := len(style); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case i > len(style) && strings.HasPrefix(s[i:], style):
			return s[len(style):i], i + len(style)
		}
	}
	return "", 0
}
