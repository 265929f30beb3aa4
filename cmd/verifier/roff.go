package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// roff is a page in the language of man(7). Only macros that every
// implementation has are used.
type roff struct{ lines }

// escape keeps text from being read as a command, a hyphen from becoming
// typographic (people copy flags), and the page in ASCII.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString("\\(ga")
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func bold(s string) string { return `\fB` + escape(s) + `\fR` }

// raw is a line of escaped text.
func (p *roff) raw(s string) {
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	p.add(s)
}

// line is a line of plain text.
func (p *roff) line(s string) { p.raw(escape(s)) }

// macro is a command with its arguments, each in quotes.
func (p *roff) macro(name string, args ...string) {
	for _, a := range args {
		name += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	p.add(name)
}

// item is a term, already escaped, and what it means.
func (p *roff) item(term, text string) {
	p.add(".TP")
	p.raw(term)
	p.line(text)
}

func (p *roff) list(title string, entries []entry) {
	p.macro(".SH", title)
	for _, e := range entries {
		p.item(bold(e.name), e.text)
	}
}

// prose is a long help: paragraphs, and examples that are indented by four.
func (p *roff) prose(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		example := strings.HasPrefix(paragraph, "    ")
		if p.add(".PP"); example {
			p.add(".RS 4\n.nf")
		}
		for line := range strings.Lines(paragraph) {
			p.line(strings.TrimPrefix(strings.TrimRight(line, "\n"), "    "))
		}
		if example {
			p.add(".fi\n.RE")
		}
	}
}

// command is one command with its flags. A group only points at what it holds.
func (p *roff) command(c command) {
	title := c.path
	for _, a := range c.Positional {
		title += " " + a.Summary()
	}
	if !c.Leaf() {
		p.macro(".SS", title+" <command>")
		p.prose(c.Help + " Commands: " + strings.Join(c.children(), ", ") + ".")
		return
	}
	p.macro(".SS", title+" [flags]")
	p.prose(c.Help)
	if c.Detail != "" {
		p.prose(c.Detail)
	}
	for _, a := range c.Positional {
		p.item(bold(a.Summary()), a.Help)
	}
	for _, f := range c.Flags {
		p.item(flagTerm(f), flagText(f))
	}
}

// flagTerm is the flag as one writes it: -c, --config=FILE.
func flagTerm(f *kong.Flag) string {
	out := bold("--" + f.Name)
	if f.Short != 0 {
		out = bold("-"+string(f.Short)) + ", " + out
	}
	if takesValue(f) {
		out += `=\fI` + escape(placeholder(f)) + `\fR`
	}
	return out
}

func flagText(f *kong.Flag) string {
	out := f.Help
	if f.HasDefault && f.Default != "" {
		out += " Default: " + f.Default + "."
	}
	if len(f.Envs) > 0 {
		out += " Environment: " + strings.Join(f.Envs, ", ") + "."
	}
	return out
}
