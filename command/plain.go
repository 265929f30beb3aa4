package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxScripts = 4           // inside of each other, that [Plain] reads
	maxFeed    = 1 << 10     // bytes of what is piped into a command that it repeats
	maxPlain   = 4 * maxText // bytes that it writes
)

// Plain writes those commands of a text that have a known word, each as the shell reads it: on a line, its words
// without escapes and in quotes only where they need some, behind the commands whose output it reads. It also
// reads the scripts that a command hands to another shell. from says where in the text each byte of plain comes
// from, -1 where it comes from nowhere. A text that we can't read has no plain form.
func Plain(text string, known func(word string) bool) (plain string, from []int) {
	p := plainer{known: known}
	all := ours(text)
	for i := range all {
		all[i].from = i
	}
	p.script(all, nil)
	if len(p.out) > maxPlain {
		return "", nil
	}
	for _, l := range p.out {
		from = append(from, l.from)
	}
	return p.out.String(), from
}

// spelled is a text by its letters, with the places that they come from.
type spelled []letter

type letter struct {
	byte
	from int
}

// ours is what comes from nowhere.
func ours(text string) spelled {
	out := make(spelled, len(text))
	for i := range out {
		out[i] = letter{text[i], -1}
	}
	return out
}

func (s spelled) String() string {
	out := make([]byte, len(s))
	for i, l := range s {
		out[i] = l.byte
	}
	return string(out)
}

// plainer writes commands plainly.
type plainer struct {
	known func(string) bool
	out   spelled
	depth int
}

// script reads a text whose input is what other commands print.
func (p *plainer) script(s, feed spelled) {
	file, why := parse(syntax.LangBash, s.String())
	if why != "" || p.depth == maxScripts {
		return
	}
	p.depth++
	(&plainScript{p, s}).walk(file, feed)
	p.depth--
}

// plainScript is one of the texts.
type plainScript struct {
	*plainer
	source spelled
}

// walk writes the commands below a node, and returns the last of them in a row, as a pipe has them.
func (p *plainScript) walk(n syntax.Node, feed spelled) (row spelled) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			row = append(row, p.stmt(n, feed)...)
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				return true
			}
			left := p.walk(n.X, feed)
			row = append(append(row, left...), p.walk(n.Y, left)...)
		default:
			return true
		}
		row = row[max(0, len(row)-maxFeed):]
		return false
	})
	return row
}

// stmt writes a statement with what its redirections feed it.
func (p *plainScript) stmt(s *syntax.Stmt, feed spelled) (row spelled) {
	var input, document spelled
	for _, d := range s.Redirs {
		switch {
		case d.Hdoc != nil:
			raw := p.raw(d.Hdoc)
			document = raw[:strings.LastIndexByte(raw.String(), '\n')+1] // without the line that ends it
		case d.Op == syntax.WordHdoc:
			input = append(ours(" <<< "), p.word(d.Word).quoted()...)
		case d.Word != nil && isProcess(d.Word):
			feed = p.walk(d.Word, nil)
		}
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		if s.Cmd != nil {
			row = p.walk(s.Cmd, feed)
		}
		return row
	}
	words := make([]spelled, len(c.Args))
	for i, w := range c.Args {
		p.walk(w, feed)
		words[i] = p.word(w)
		if i > 0 {
			row = append(row, ours(" ")...)
		}
		row = append(row, words[i].quoted()...)
	}
	row = append(row, input...)
	p.command(words, row, feed, document)
	return append(row, ours(" | ")...)
}

// command writes a command, and what it hands to another shell.
func (p *plainScript) command(words []spelled, row, feed, document spelled) {
	has := func(known func(string) bool) bool {
		return slices.ContainsFunc(words, func(w spelled) bool { return known(name(w.String())) })
	}
	if has(p.known) && len(p.out) <= maxPlain {
		p.out = append(append(p.out, feed...), row...)
		if document != nil {
			p.out = append(append(append(p.out, ours(" <<_\n")...), document...), ours("_")...)
		}
		p.out = append(p.out, ours("\n\n")...)
	}
	if !has(func(n string) bool { return shells[n] || handsOver[n] }) {
		return
	}
	for _, w := range append(words, document) {
		if strings.ContainsAny(w.String(), " \t\n") {
			p.script(w, feed)
		}
	}
}

// handsOver are programs besides the shells that hand an argument to one.
var handsOver = set("eval ssh su watch")

// raw is a node as it is written.
func (p *plainScript) raw(n syntax.Node) spelled {
	return p.source[n.Pos().Offset():n.End().Offset()]
}

// word is a word without its quotes and escapes.
func (p *plainScript) word(w *syntax.Word) (out spelled) {
	p.parts(&out, w.Parts, false)
	return out
}

func (p *plainScript) parts(out *spelled, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		raw := p.raw(part)
		switch part := part.(type) {
		case *syntax.Lit:
			raw.unescape(out, quoted)
		case *syntax.SglQuoted:
			*out = append(*out, raw[strings.IndexByte(raw.String(), '\'')+1:len(raw)-1]...)
		case *syntax.DblQuoted:
			p.parts(out, part.Parts, true)
		case *syntax.ParamExp:
			*out = append(*out, raw...)
		default: // a command, which is written by itself
			*out = append(*out, letter{'$', raw[0].from}, letter{'_', raw[len(raw)-1].from})
		}
	}
}

// unescape takes backslashes away as bash does.
func (s spelled) unescape(out *spelled, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i].byte == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1].byte) >= 0) {
			i++
			if s[i].byte == '\n' {
				continue
			}
		}
		*out = append(*out, s[i])
	}
}

func (s spelled) quoted() spelled {
	text := s.String()
	q := QuoteFor(text)
	if q == "" && strings.Contains(text, `\`) {
		q = "'"
	}
	return slices.Concat(ours(q), s, ours(q))
}

// QuoteFor is the quote that makes a text one word of a command, "" where it needs none or has all of them.
func QuoteFor(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\r\n;|&<>()'\"`*") {
		return ""
	}
	for _, q := range []string{`"`, "'", "`"} {
		if !strings.Contains(text, q) {
			return q
		}
	}
	return ""
}
