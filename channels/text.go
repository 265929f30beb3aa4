package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
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
		if b.Entry > 0 || c.IsEntry() && b.Action != approval.Details { // `verifier watch` asks about each by itself; a command would answer the whole list
			continue
		}
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

// PickText is the careful question as a terminal shows it: see [Picking].
func PickText(c *approval.Card, pick *approval.Pick, now time.Time) string {
	var p page
	p.document(Picking(c, pick, now))
	return p.b.String()
}

// shell are the same answers for the command line.
func shell(c *approval.Card, d *Document) []string {
	if unread(c) {
		return []string{"verifier pending " + c.Ref(), "verifier deny " + c.Ref()}
	}
	if c.StepUp() {
		return []string{"verifier deny " + c.Ref()}
	}
	lines := []string{"verifier approve " + c.Ref()}
	for _, t := range d.Typed {
		switch {
		case t.Exactly:
			lines = append(lines, fmt.Sprintf("verifier approve %s --exactly --minutes %d", c.Ref(), t.Minutes))
		case t.Turn:
			lines = append(lines, fmt.Sprintf("verifier approve %s --turn", c.Ref()))
		case t.Minutes > 0:
			lines = append(lines, fmt.Sprintf("verifier approve %s --minutes %d", c.Ref(), t.Minutes))
		}
	}
	return append(lines, "verifier deny "+c.Ref())
}

// stopped reports whether a card tells of what the auditor stopped already.
func stopped(c *approval.Card) bool { return len(c.Questions) == 1 && c.Questions[0].Ask.Blocked != "" }

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
		p.blank()
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
