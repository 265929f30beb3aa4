package channels

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Text is a card for a terminal with every answer that can be given, in a shell
// too: as More shows it, but what is very long is cut, and says so. What is
// behind a bar was written by the agent.
func Text(c *approval.Card, now time.Time) string { return text(c, now, &normal) }

// All is Text with nothing left out.
func All(c *approval.Card, now time.Time) string { return text(c, now, &unbounded) }

func text(c *approval.Card, now time.Time, r *room) string {
	if c.Notice() != "" {
		return Whole(notice(c.Notice()))
	}
	var p page
	d := details(c, now, r)
	p.document(d)
	if len(d.Buttons) > 0 {
		p.field("in a shell", strings.Join(shell(c, d), "\n"))
	}
	return p.b.String()
}

// Short is a card for a terminal as a chat shows it: the call, what was asked for
// and why, and three answers. [All] is what More shows.
func Short(c *approval.Card, now time.Time) string {
	var p page
	d := document(c, nil, now, &normal)
	p.document(d)
	for i := range d.Buttons {
		b := &d.Buttons[i]
		switch b.Action {
		case approval.AllowOnce:
			p.field("allow once", "verifier approve "+c.Ref())
		case approval.DenyCall:
			p.field("deny", "verifier deny "+c.Ref())
		default:
			p.field("more", "verifier pending "+c.Ref())
		}
	}
	return p.b.String()
}

// shell are the same answers for the command line.
func shell(c *approval.Card, d *Document) []string {
	if unread(c) {
		return []string{"verifier pending " + c.Ref(), "verifier deny " + c.Ref()}
	}
	lines := []string{"verifier approve " + c.Ref()}
	for _, t := range d.Typed {
		if !t.Scope.Lasting() {
			continue
		}
		line := "verifier approve " + c.Ref() + [...]string{"", " --same", " --exactly"}[t.Scope.Target]
		if t.Scope.Turn {
			line += " --turn"
		} else {
			line += fmt.Sprintf(" --minutes %d", t.Scope.Minutes)
		}
		lines = append(lines, line)
	}
	return append(lines, "verifier deny "+c.Ref())
}

// stopped reports whether a card tells of what the auditor stopped already.
func stopped(c *approval.Card) bool { return c.Ask.Blocked != "" }

// document draws a document. Buttons can't be drawn. The first line is as wide as
// what it says.
func (p *page) document(d *Document) {
	p.rule(wrap(d.FirstLine(), pageWidth-6))
	for i := range d.Blocks {
		p.block(&d.Blocks[i])
	}
}

func (p *page) block(b *Block) {
	if b.Gap {
		p.line("")
	}
	switch b.Kind {
	case Field:
		p.field(b.Label, b.Text)
	case Quote:
		p.line(indent + b.Label)
		p.quote(b.Text)
	case Warning:
		p.note("! " + strings.TrimSpace(b.Label+" "+b.Text))
	default:
		p.note(strings.TrimSpace(b.Label + " " + b.Text))
	}
}

// Geometry of a page. A text is either behind a bar, which only what the
// agent wrote has, or in the column of values: it can't pass for a label.
const (
	pageWidth = 78
	indent    = "  "
	labels    = 14 // columns of a label
	bar       = indent + "│ "
	goesOn    = indent + "┊ " // the line before was too long for the page
)

// page is plain text in lines of at most pageWidth columns, where possible.
// Whatever is put on it has been through [Safe].
type page struct{ b strings.Builder }

func (p *page) line(s string) { p.b.WriteString(s + "\n") }

// rule draws a line with a title in it, which may go on below.
func (p *page) rule(title []string) {
	head := "── " + title[0] + " "
	p.line(head + strings.Repeat("─", max(pageWidth-width(head), 2)))
	for _, more := range title[1:] {
		p.line(goesOn + more)
	}
}

// field is a label and its value, which goes on below itself.
func (p *page) field(label, value string) {
	lead := indent + label + strings.Repeat(" ", max(labels-len(label), 1))
	for part := range strings.SplitSeq(value, "\n") {
		for _, s := range wrap(part, pageWidth-len(indent)-labels) {
			p.line(strings.TrimRight(lead+s, " "))
			lead = indent + strings.Repeat(" ", labels)
		}
	}
}

// note is a text over the whole width; an empty one is nothing.
func (p *page) note(s string) {
	if s == "" {
		return
	}
	for part := range strings.SplitSeq(s, "\n") {
		for _, s := range wrap(part, pageWidth-len(indent)) {
			p.line(strings.TrimRight(indent+s, " "))
		}
	}
}

// quote is what the agent wrote, each of its lines behind a bar. Where it was
// cut, the gap is outside the bar.
func (p *page) quote(s string) {
	head, rest, cut := strings.Cut(s, open+"… ")
	p.barred(bar, head)
	for cut {
		var gap string
		gap, rest, _ = strings.Cut(rest, shut)
		p.line(indent + open + "… " + gap + shut)
		head, rest, cut = strings.Cut(rest, open+"… ")
		p.barred(goesOn, head)
	}
}

func (p *page) barred(lead, s string) {
	for part := range strings.SplitSeq(s, "\n") {
		for _, s := range wrap(part, pageWidth-width(bar)) {
			p.line(strings.TrimRight(lead+s, " "))
			lead = goesOn
		}
		lead = bar
	}
}

// wrap breaks a line at the last space that fits, or where it must; never in one
// of our marks, if that fits on a line at all. Every character stays.
func wrap(s string, most int) []string {
	var lines []string
	for {
		end := fit(s, most)
		lines = append(lines, s[:end])
		s = s[end:]
		if s == "" {
			return lines
		}
	}
}

// fit returns where the first line of s ends.
func fit(s string, most int) int {
	used, inMark, space, whole := 0, false, 0, 0
	for i, r := range s {
		used += columns(r)
		if used > most && i > 0 {
			return cmp.Or(space, whole, i)
		}
		end := i + utf8.RuneLen(r)
		switch {
		case string(r) == open:
			inMark = true
		case string(r) == shut:
			inMark = false
		case r == ' ' && !inMark && strings.TrimLeft(s[:end], " ") != "":
			space = end
		}
		if !inMark {
			whole = end
		}
	}
	return len(s)
}
