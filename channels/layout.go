package channels

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

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

func (p *page) blank() { p.line("") }

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
