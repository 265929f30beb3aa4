package redact

import (
	"strings"
	"unicode"
)

// maxPipe bounds how far before a program its pipe is looked for.
const maxPipe = 1024

// piped hides what the program at start is given by a pipe, a here-string or a
// here-document; end is behind its name.
func (f *finder) piped(start, end int, u *usage) {
	if !f.spend(64) {
		return
	}
	f.here(u, end)
	from := max(0, start-maxPipe)
	if open := quoteBefore(f.s, from, start); open >= 0 && f.producers(u, open+1, start) {
		return
	}
	f.producers(u, from, start)
}

// quoteBefore returns where the quotes open that i stands in, or -1.
func quoteBefore(s string, from, i int) int {
	open := -1
	for j := from; j < i; j++ {
		switch c := s[j]; {
		case !isQuote(c):
		case open < 0 && !isApostrophe(s[:i], j):
			open = j
		case open >= 0 && c == s[open]:
			open = -1
		}
	}
	return open
}

// pipeline is where the commands of one begin, as a shell reads it.
type pipeline struct {
	start int    // of the command
	from  [2]int // those before it, whose output it reads
	outer []int  // where the commands begin that the open brackets are in
}

// producers hides what the command before the pipe prints, and reports whether
// there is a pipe.
func (f *finder) producers(u *usage, from, to int) bool {
	if !f.spend(to - from) {
		return false
	}
	p := pipeline{start: from}
	for i := from; i < to; i++ {
		if c := f.s[i]; isQuote(c) && c != '`' {
			if n := strings.IndexByte(f.s[i+1:to], c); n >= 0 {
				i += n + 1
			}
			continue
		}
		i = p.step(f.s, i)
	}
	if p.from[1] == 0 {
		return false
	}
	f.printed(u, p.from[0], p.from[1])
	f.here(u, p.from[0])
	return true
}

// step looks at one character outside quotes, and returns the last one it used.
func (p *pipeline) step(s string, i int) int {
	switch c := s[i]; {
	case c == '|' && strings.HasPrefix(s[i+1:], "|"), c == '&' && strings.HasPrefix(s[i+1:], "&"):
		p.begin(i + 2)
		return i + 1
	case c == '|':
		if p.from[1] == 0 {
			p.from[0] = p.start
		}
		p.from[1], p.start = i, i+1
	case c == ';' || c == '\n' || c == '`':
		p.begin(i + 1)
	case c == '(' || c == '{':
		p.outer = append(p.outer, i+1)
		p.begin(i + 1)
	case (c == ')' || c == '}') && len(p.outer) > 0:
		p.begin(p.outer[len(p.outer)-1])
		p.outer = p.outer[:len(p.outer)-1]
	}
	return i
}

func (p *pipeline) begin(i int) { p.start, p.from = i, [2]int{} }

// printers print their arguments.
var printers = map[string]bool{"echo": true, "printf": true, "yes": true, "print": true, "write-output": true, "write-host": true}

// printed hides the arguments of the printers in s[a:b].
func (f *finder) printed(u *usage, a, b int) {
	w := word{s: f.s[:b], equal: true}
	name := ""
	for i := a; i < b; {
		i = skipSpace(w.s, i)
		if i == b {
			return
		}
		if strings.IndexByte("\n;|&()", f.s[i]) >= 0 {
			name, i = "", i+1
			continue
		}
		next := max(i+1, w.shell(i, b))
		s := f.s[i:next]
		if strings.HasSuffix(s, ")") && !strings.Contains(s, "(") && next > i+1 {
			next--
			s = f.s[i:next]
		}
		switch {
		case name == "" && printers[baseName(plainWord(s))]:
			name = baseName(plainWord(s))
		case name == "" || name != "printf" && len(s) <= 3 && s[0] == '-':
		case name == "printf" && strings.IndexByte(s, '%') >= 0:
			u = &usage{} // what is printed for % is the secret
		default:
			f.line(u, i, min(b, next))
		}
		i = next
	}
}

// plainWord is a word without what is glued to it in front.
func plainWord(s string) string {
	return strings.ToLower(strings.TrimLeftFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// line hides an argument without the line break at its end.
func (f *finder) line(u *usage, a, b int) {
	a, b = unquoted(f.s, a, b)
	f.part(u, a, a+len(withoutBreak(f.s[a:b])))
}

// withoutBreak leaves out the line breaks at the end, as they are typed in a
// script or as they are.
func withoutBreak(s string) string {
	for {
		rest := strings.TrimRight(s, "\r\n")
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, `\n`), `\r`)
		if rest == s {
			return s
		}
		s = rest
	}
}

// here hides a here-string or a here-document of the command whose arguments
// start at i.
func (f *finder) here(u *usage, i int) {
	line := f.s[i:lineEnd(f.s[:min(len(f.s), i+maxPipe)], i)]
	n := strings.Index(line, "<<")
	if n < 0 || strings.ContainsAny(line[:n], ";|") {
		return
	}
	rest := strings.TrimLeft(line[n+2:], " \t-")
	at := i + len(line) - len(rest)
	if word, ok := strings.CutPrefix(rest, "<"); ok {
		at += 1 + len(word) - len(strings.TrimLeft(word, " \t"))
		w := wordAt(f.s, at)
		f.part(u, at, w.shell(at, len(f.s)))
		return
	}
	f.document(u, at)
}

func wordAt(s string, i int) word { return word{s: s, quote: quoteAt(s, i), equal: true} }

// document hides the lines up to the one that is the delimiter at i.
func (f *finder) document(u *usage, i int) {
	end := i
	for end < len(f.s) && (isWord(f.s[end]) || isQuote(f.s[end])) {
		end++
	}
	delimiter := strings.Trim(f.s[i:end], "\"'`")
	if delimiter == "" {
		return
	}
	for from := lineEnd(f.s, end) + 1; from < len(f.s); {
		to := lineEnd(f.s, from)
		if strings.TrimSpace(f.s[from:to]) == delimiter || !f.spend(1+to-from) {
			return
		}
		f.part(u, from, to)
		from = to + 1
	}
}

// stdin looks at a flag that says that a secret comes by a pipe:
// --password-stdin, --token-from-stdin, -pass stdin.
func (f *finder) stdin(start, end int) {
	from, to := f.around(start, end)
	name := squash(f.s[from:to])
	if to == end && from == start { // a word of its own: the flag is the one before
		before := strings.TrimRight(f.s[max(0, start-maxName):start], " \t=")
		name = squash(before[strings.LastIndexAny(before, " \t\n")+1:])
	}
	if namesSecret(name) {
		f.piped(from, to, &usage{})
	}
}

// namesSecret reports whether the name of a flag is about a secret.
func namesSecret(squashed string) bool {
	for _, w := range []string{"pass", "token", "secret", "key", "pwd", "credential", "pin"} {
		if strings.Contains(squashed, w) {
			return true
		}
	}
	return false
}

// fedFlag looks at a flag that says nothing else than that.
func (f *finder) fedFlag(start, end int) { f.piped(start, end, &usage{}) }
