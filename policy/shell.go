package policy

import (
	"bytes"
	"slices"
	"strings"
)

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

// Kinds of bytes on a command line. A zero byte separates the strings of a
// call, which may be one command in pieces.
const (
	inWord byte = iota
	breaksWord
	endsCommand
)

var shellBytes = func() (kinds [256]byte) {
	for _, c := range []byte(" \t\r\x00<>){}[],='\"`$") {
		kinds[c] = breaksWord
	}
	for _, c := range []byte(";|&\n(") {
		kinds[c] = endsCommand
	}
	return kinds
}()

// tokens calls yield for each word until it returns true.
func tokens(b []byte, yield func(*token) bool) bool {
	t := token{first: true, command: true}
	for i := 0; i < len(b); {
		switch c := b[i]; shellBytes[c] {
		case endsCommand:
			t = token{first: true, command: true, piped: c == '|'}
			i++
		case breaksWord:
			t.command = t.command || c == '`' || c == 0
			i++
		default:
			n := 1
			for i+n < len(b) && shellBytes[b[i+n]] == inWord {
				n++
			}
			t.split(b[i : i+n])
			if yield(&t) {
				return true
			}
			t = token{command: t.command && t.leads()}
			i += n
		}
	}
	return false
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

func (t *token) split(b []byte) {
	for len(b) > 0 && (b[len(b)-1] == '/' || b[len(b)-1] == ':') {
		b = b[:len(b)-1]
	}
	t.path = b
	t.word = bytes.TrimSuffix(b[bytes.LastIndexByte(b, '/')+1:], []byte(".exe"))
	t.means = exactly(t.word)
}

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
	return tokens(b, func(t *token) bool {
		if ours && subcommands[string(t.word)] {
			return true
		}
		ours = slices.ContainsFunc(g.commands, func(c []byte) bool { return bytes.Equal(c, t.word) })
		return ours && (t.command || t.dir() == "bin" || t.dir() == "sbin")
	})
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
	d.read(t.values)
	if len(t.bare) > 0 && joins(t.values) {
		d.read(t.bareValues)
	}
	return d
}

// joins reports whether b without what a shell drops could have words that it
// does not have with it. Quotes end words anyway, so only those matter that
// stand inside of one.
func joins(b []byte) bool {
	for i := untouched(b); i < len(b); i += 1 + untouched(b[i+1:]) {
		if !isQuote(b[i]) {
			if instead, _ := dropped(b[i:]); instead != "$" {
				return true
			}
			continue
		}
		start := i
		for i+1 < len(b) && isQuote(b[i+1]) {
			i++
		}
		if start > 0 && i+1 < len(b) && shellBytes[b[start-1]] == inWord && shellBytes[b[i+1]] == inWord {
			return true
		}
	}
	return false
}

// isQuote is false for the other characters that a shell drops: those are part
// of a word.
func isQuote(c byte) bool { return c == '\'' || c == '"' || c == '`' }

func (d *deeds) read(b []byte) {
	d.fetches = d.fetches || bytes.Contains(b, []byte("://")) || opensSocket(b)
	var tool *entry // the last word that has subcommands
	tokens(b, func(t *token) bool {
		if tool != nil && t.means != nil {
			d.note(tool.fetchesBy&t.means.fetchesFor != 0, tool.destroysBy&t.means.destroysFor != 0, t.word)
		}
		if t.first {
			tool = nil
		}
		if e := lookUp(t); e != nil {
			d.note(e.fetches || e.command && t.command || e.interprets && t.piped, e.destroys, t.word)
			if e.fetchesBy != 0 || e.destroysBy != 0 {
				tool = e
			}
		}
		return d.fetches && d.destroys
	})
}

// opensSocket finds the names under which bash connects.
func opensSocket(b []byte) bool {
	return bytes.Contains(b, []byte("/dev/")) &&
		(bytes.Contains(b, []byte("/dev/tcp/")) || bytes.Contains(b, []byte("/dev/udp/")))
}

func (d *deeds) note(fetches, destroys bool, word []byte) {
	if fetches && d.fetcher == "" {
		d.fetcher = string(word)
	}
	d.fetches = d.fetches || fetches
	d.destroys = d.destroys || destroys
}
