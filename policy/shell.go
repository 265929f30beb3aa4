package policy

import (
	"bytes"
	"strings"
)

// token is one word of a command line, as far as it can be told without being
// a shell.
type token struct {
	word    []byte // without its directory and ".exe"
	dir     []byte // the last directory before it
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
			t = token{command: t.command && leads(t.word)}
			i += n
		}
	}
	return false
}

// leads reports whether a command may follow this word: a prefix, an option or
// a number given to one.
func leads(w []byte) bool {
	if e := exactly(w); e != nil && e.leads {
		return true
	}
	return len(w) == 0 || w[0] == '-' || w[0] == '!' || w[0] <= '9' && len(bytes.Trim(w, "0123456789.smhd")) == 0
}

func (t *token) split(b []byte) {
	for len(b) > 0 && (b[len(b)-1] == '/' || b[len(b)-1] == ':') {
		b = b[:len(b)-1]
	}
	t.word, t.dir = b, nil
	if i := bytes.LastIndexByte(b, '/'); i >= 0 {
		t.word = b[i+1:]
		t.dir = b[bytes.LastIndexByte(b[:i], '/')+1 : i]
	}
	t.word = bytes.TrimSuffix(t.word, []byte(".exe"))
}

// subcommands are what our own program does. Help and version are harmless.
var subcommands = words("approve deny reply pending store serve init audit login check send explain reset-trust accept-loss grant grants")

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
		ours = g.commands[string(t.word)]
		return ours && (t.command || string(t.dir) == "bin" || string(t.dir) == "sbin")
	})
}

func (g *guard) mentions(b []byte) bool {
	for c := range g.commands {
		if bytes.Contains(b, []byte(c)) {
			return true
		}
	}
	return false
}

// deeds is what the commands in a call do, as far as their words tell.
type deeds struct {
	fetches  bool
	fetcher  string // what fetches, where it is a word
	destroys bool
}

// deeds reads the commands of a call, and reads them again without what a
// shell would drop.
func (t *text) deeds() deeds {
	var d deeds
	d.read(t.values)
	if t.marks&(hasQuote|hasDollar) != 0 {
		d.read(stripped(t.values))
	}
	return d
}

func (d *deeds) read(b []byte) {
	for _, reach := range []string{"://", "/dev/tcp/", "/dev/udp/"} {
		d.fetches = d.fetches || bytes.Contains(b, []byte(reach))
	}
	var tool *entry // the last word that has subcommands
	tokens(b, func(t *token) bool {
		if tool != nil {
			d.note(tool.fetchesBy[string(t.word)], tool.destroysBy[string(t.word)], t.word)
		}
		if t.first {
			tool = nil
		}
		if e := lookUp(t.word); e != nil {
			d.note(e.fetches || e.command && t.command || e.interprets && t.piped, e.destroys, t.word)
			if e.fetchesBy != nil || e.destroysBy != nil {
				tool = e
			}
		}
		return d.fetches && d.destroys
	})
}

func (d *deeds) note(fetches, destroys bool, word []byte) {
	if fetches && d.fetcher == "" {
		d.fetcher = string(word)
	}
	d.fetches = d.fetches || fetches
	d.destroys = d.destroys || destroys
}
