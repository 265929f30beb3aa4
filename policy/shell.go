package policy

import (
	"bytes"
	"slices"
	"strings"
)

// line is a command line whose words are read one after the other, for the guard: it looks for our own name in
// many readings of a call, most of which are no commands. What a command does, package command says.
type line struct {
	text []byte
	at   int // where it goes on
	token
}

// token is one word of a command line, as far as it can be told without being
// a shell.
type token struct {
	word    []byte // without its directory and ".exe"
	path    []byte // with them
	command bool   // it is where a command may be
}

// Kinds of bytes on a command line, those of words first. A zero byte separates
// the strings of a call, which may be one command in pieces.
const (
	inWord byte = iota
	endsDirectory
	breaksWord
	endsCommand
)

var shellBytes = func() (kinds [256]byte) {
	kinds['/'] = endsDirectory
	for _, c := range []byte(" \t\r\x00<>){}[],='\"`$") {
		kinds[c] = breaksWord
	}
	for _, c := range []byte(";|&\n(") {
		kinds[c] = endsCommand
	}
	return kinds
}()

// lineOf is a command line before its first word, where a command may stand.
func lineOf(b []byte) line { return line{text: b, token: token{command: true}} }

// next reads the next word and reports whether there is one.
func (l *line) next() bool {
	l.command = l.command && l.leads()
	for at, c := range l.text[l.at:] {
		switch shellBytes[c] {
		case endsCommand:
			l.command = true
		case breaksWord:
			l.command = l.command || c == '`' || c == 0
		default:
			l.at += at
			l.read()
			return true
		}
	}
	l.at = len(l.text)
	return false
}

// read reads the word that the rest of the line begins with.
func (l *line) read() {
	b, n, name := l.text[l.at:], 0, 0
	for ; n < len(b); n++ {
		kind := shellBytes[b[n]]
		if kind >= breaksWord {
			break
		}
		if kind == endsDirectory {
			name = n + 1
		}
	}
	l.at += n
	if last := b[n-1]; last == '/' || last == ':' {
		for n > 0 && (b[n-1] == '/' || b[n-1] == ':') {
			n--
		}
		name = bytes.LastIndexByte(b[:n], '/') + 1
	}
	l.path, l.word = b[:n], b[name:n]
	if end := len(l.word) - len(".exe"); end >= 0 && string(l.word[end:]) == ".exe" {
		l.word = l.word[:end]
	}
}

// leads reports whether a command may follow this word: a prefix, an option or
// a number given to one.
func (t *token) leads() bool {
	if prefixWords[string(t.word)] {
		return true
	}
	w := t.word
	return len(w) == 0 || w[0] == '-' || w[0] == '!' || isAmount(w)
}

// isAmount reports whether w is a number or a time such as 1.5h.
func isAmount(w []byte) bool {
	for _, c := range w {
		if !isDigit(c) && c != '.' && c != 's' && c != 'm' && c != 'h' && c != 'd' {
			return false
		}
	}
	return w[0] <= '9'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// dir is the last directory before the word.
func (t *token) dir() string {
	before := t.path[:max(0, bytes.LastIndexByte(t.path, '/'))]
	return string(before[bytes.LastIndexByte(before, '/')+1:])
}

// prefixWords are followed by the command that they run, or find.
var prefixWords = words(`sudo doas env nohup time timeout nice ionice setsid stdbuf xargs exec command builtin then do else if while until watch
	which whereis type alias eval sh bash zsh dash ash ksh fish busybox cmd powershell pwsh start chroot unshare su runuser -c /c`)

// subcommands are what our own program does. Help and version are harmless.
var subcommands = words("approve deny reply pending serve init audit login check send explain reset-trust sources revoke grant grants")

func words(list string) map[string]bool {
	all := strings.Fields(list)
	set := make(map[string]bool, len(all))
	for _, w := range all {
		set[w] = true
	}
	return set
}

// command reports whether b runs our own program: its name as a command, in a
// directory of programs, or before one of its subcommands.
func (g *guard) command(b []byte) bool {
	if !g.mentions(b) {
		return false
	}
	ours := false
	l := lineOf(b)
	for l.next() {
		if ours && subcommands[string(l.word)] {
			return true
		}
		ours = slices.ContainsFunc(g.commands, func(c []byte) bool { return bytes.Equal(c, l.word) })
		if ours && (l.command || l.dir() == "bin" || l.dir() == "sbin") {
			return true
		}
	}
	return false
}

func (g *guard) mentions(b []byte) bool {
	return slices.ContainsFunc(g.commands, func(c []byte) bool { return bytes.Contains(b, c) })
}
