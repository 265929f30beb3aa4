package redact

import "strings"

// word reads one value out of a text that may be a shell command, a URL, a
// configuration or a sentence.
type word struct {
	s     string
	quote byte // that the place is in; 0: none
	equal bool // given by =, as in a shell or a connection string: a semicolon ends it
	query bool // part of a URL's query
}

// at returns where the value at i starts and ends, without its quotes.
func (w word) at(i int) (start, end int) {
	if i < len(w.s) && isQuote(w.s[i]) && (w.s[i] != w.quote || i+1 < len(w.s) && isAlnum(w.s[i+1])) {
		return w.quoted(i)
	}
	return i, w.bare(i)
}

// quoted reads up to the quote that closes. An open end is the line's.
func (w word) quoted(open int) (start, end int) {
	start = open + 1
	for i := start; i < len(w.s); i++ {
		switch w.s[i] {
		case '\\':
			i++
		case w.s[open]:
			if end := w.goesOn(i + 1); end > i+1 {
				return open, end
			}
			return start, i
		}
	}
	return start, lineEnd(w.s, start)
}

// goesOn returns where a word ends of which a quote closes before i. A shell reads
// pieces in quotes and bare ones as one word where no space is between them.
func (w word) goesOn(i int) int {
	for w.equal && i < len(w.s) {
		escaped := 0
		if strings.HasPrefix(w.s[i:], `\'`) { // between two pieces in single quotes
			escaped = 2
		}
		rest := w.s[i+escaped:]
		switch {
		case rest == "" || rest[0] == w.quote || !isQuote(rest[0]) && !isAlnum(rest[0]):
			return i
		case isAlnum(rest[0]):
			return w.bare(i + escaped)
		}
		n := strings.IndexByte(rest[1:], rest[0])
		if n < 0 {
			return i
		}
		i += escaped + n + 2
	}
	return i
}

// bare reads up to what ends a word, and leaves closing brackets and commas to
// what is around it.
func (w word) bare(i int) int {
	end := w.shell(i, maxLookBack)
	if isMask(w.s[i:end]) {
		return end
	}
	for end > i+1 && closes(w.s[i:end]) {
		end--
	}
	return end
}

// closes reports whether v ends in a comma, or in a bracket it did not open.
func closes(v string) bool {
	n := strings.IndexByte(",)}]", v[len(v)-1])
	return n == 0 || n > 0 && strings.IndexByte(v, ",({["[n]) < 0
}

// shell reads a word as a shell does, its quotes included: what is in them
// may hold spaces. A quote that does not close within reach is a character.
func (w word) shell(i, reach int) int {
	for i < len(w.s) && !w.stops(i) {
		if n := maskLength(w.s[i:]); n > 0 {
			i += n
			continue
		}
		if w.equal && (strings.HasPrefix(w.s[i:], `\ `) || strings.HasPrefix(w.s[i:], "\\\t")) {
			i += 2 // a space that belongs to the word
			continue
		}
		if c := w.s[i]; isQuote(c) && w.quote == 0 {
			if n := strings.IndexByte(w.s[i+1:min(len(w.s), i+1+reach)], c); n >= 0 {
				i += n + 1
			}
		}
		i++
	}
	return i
}

func (w word) stops(i int) bool {
	c := w.s[i]
	switch {
	case isSpace(c):
		return true
	case w.quote != 0 && c == w.quote:
		return true
	case c == '\\' && i+1 < len(w.s) && isQuote(w.s[i+1]):
		return true
	case c == ';':
		return w.equal
	case w.query:
		return strings.IndexByte("&#\"'`<>", c) >= 0
	case c == '&' || c == '|':
		return w.equal && (i+1 == len(w.s) || isSpace(w.s[i+1]) || w.s[i+1] == c)
	}
	return false
}

// harmless reports whether the value at i is no secret but says where one is,
// or that there is none.
func (w word) harmless(i int, v string) bool {
	if v == "" || isMask(v) || nothing[strings.ToLower(v)] {
		return true
	}
	if i > 0 && w.s[i-1] == '\'' && w.quote == 0 {
		return false // nothing is replaced between single quotes
	}
	return isVariable(v)
}

var nothing = map[string]bool{
	"true": true, "false": true, "null": true, "nil": true, "none": true, "undefined": true, "string": true, "str": true,
	"int": true, "number": true, "bool": true, "boolean": true, "any": true, "required": true, "optional": true, "{": true, "[": true, "(": true, "-": true, "*": true,
}

// isVariable reports whether v is a reference: $NAME, ${NAME}, $(command), `command`, %NAME%, {{ name }}.
func isVariable(v string) bool {
	name, ok := strings.CutPrefix(v, "$")
	name = strings.TrimPrefix(name, "env:")
	switch {
	case strings.HasPrefix(v, "{{"), ok && strings.HasPrefix(name, "("):
		return true
	case ok && strings.HasPrefix(name, "{"):
		return strings.IndexByte(name, '}') == len(name)-1 && !hasDefault(name)
	case ok:
		return plainName(name)
	case len(v) > 2 && v[0] == '%' && v[len(v)-1] == '%':
		return plainName(v[1 : len(v)-1])
	}
	return false
}

// hasDefault is for ${NAME:-x}, which says what is taken where there is nothing.
func hasDefault(name string) bool {
	_, value, ok := strings.Cut(strings.TrimSuffix(name, "}"), "-")
	return ok && value != "" && !isVariable(value)
}

// plainName is for names in one case, so that $ecret123 stays a secret.
func plainName(s string) bool {
	return s != "" && (strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "")
}

// quoteAt returns the quote that s[i] is in, as far as its line tells.
func quoteAt(s string, i int) byte {
	var open byte
	for j := max(0, i-maxLookBack); j < i; j++ {
		switch c := s[j]; {
		case c == '\n':
			open = 0
		case !isQuote(c):
		case open == 0 && !isApostrophe(s[:i], j):
			open = c
		case c == open:
			open = 0
		}
	}
	return open
}

func isApostrophe(s string, i int) bool {
	return s[i] == '\'' && i > 0 && isAlnum(s[i-1]) && i+1 < len(s) && isAlnum(s[i+1])
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}
