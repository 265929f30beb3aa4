package policy

import (
	"bytes"
	"slices"
	"strings"
)

// line is a command line whose words are read one after the other.
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
	means   *entry // nil where the lexicon does not have it
	first   bool   // it is the first word after the end of another command
	command bool   // it stands where a command may stand
	piped   bool   // its input comes from another command
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

// ofWord reports whether c can be part of a word.
func ofWord(c byte) bool { return shellBytes[c] < breaksWord }

// lineOf is a command line before its first word, where a command may stand.
func lineOf(b []byte) line { return line{text: b, token: token{command: true}} }

// next reads the next word and reports whether there is one.
func (l *line) next() bool {
	l.first, l.command, l.piped = l.at == 0, l.command && l.leads(), false
	for at, c := range l.text[l.at:] {
		switch shellBytes[c] {
		case endsCommand:
			l.first, l.command, l.piped = true, true, c == '|'
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
	l.means = exactly(l.word)
}

// leads reports whether a command may follow this word: a prefix, an option or
// a number given to one.
func (t *token) leads() bool {
	if t.means != nil && t.means.leads {
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

// subcommands are what our own program does. Help and version are harmless.
var subcommands = words("approve deny reply pending store serve init audit login check send explain reset-trust sources endorse distrust revoke accept-loss grant grants")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
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

// deeds is what the commands in a call do, as far as their words tell.
type deeds struct {
	fetches  bool
	fetcher  string // what fetches, where it is a word
	destroys bool
}

// deeds reads the commands of a call, and reads them again without what a
// shell would drop, where that makes other words.
func (t *text) deeds() deeds {
	var d deeds
	d.read(t.values, t.may)
	if t.joined {
		d.read(t.bareValues, t.may)
	}
	return d
}

// joins reports whether b without what a shell drops there could have a word that
// it does not have with it. Quotes end words anyway, so only those matter that
// stand inside of one. The other characters that a shell drops are part of a word.
func joins(b []byte, at int) bool {
	if !isQuote(b[at]) {
		return true
	}
	if at == 0 || !ofWord(b[at-1]) {
		return false
	}
	for at < len(b) && isQuote(b[at]) {
		at++
	}
	return at < len(b) && ofWord(b[at])
}

func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' }

func (d *deeds) read(b []byte, may finding) {
	d.fetches = d.fetches || connects(b, may)
	var tool *entry // the last word that has subcommands
	l := lineOf(b)  // not in the loop, which would copy it for each word
	for l.next() {
		if tool != nil && l.means != nil {
			d.note(tool.fetchesBy&l.means.fetchesFor != 0, tool.destroysBy&l.means.destroysFor != 0, l.word)
		}
		if l.first {
			tool = nil
		}
		if e := lookUp(&l.token); e != nil {
			d.note(e.fetches || e.command && l.command || e.interprets && l.piped, e.destroys, l.word)
			if e.fetchesBy != 0 || e.destroysBy != 0 {
				tool = e
			}
		}
		if d.fetches && d.destroys {
			return
		}
	}
}

// connects finds an address, or the names under which bash connects.
func connects(b []byte, may finding) bool {
	return may&ofURL != 0 && bytes.Contains(b, []byte("://")) ||
		may&ofSocket != 0 && (bytes.Contains(b, []byte("/dev/tcp/")) || bytes.Contains(b, []byte("/dev/udp/")))
}

func (d *deeds) note(fetches, destroys bool, word []byte) {
	if fetches && d.fetcher == "" {
		d.fetcher = string(word)
	}
	d.fetches = d.fetches || fetches
	d.destroys = d.destroys || destroys
}
