package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Text is the card for a terminal: all of the question, and below it the lines
// that answer it, in a shell too. What stands behind a bar was written by the
// agent.
func Text(c *approval.Card, now time.Time) string {
	var p page
	d := document(c, nil, now, &normal)
	p.document(d)
	if len(d.Typed) > 0 || len(d.Buttons) > 0 {
		p.field("in a shell", strings.Join(shell(c, d), "\n"))
	}
	return p.b.String()
}

// shell are the same answers for the command line.
func shell(c *approval.Card, d *Document) []string {
	lines := []string{"verifier approve " + c.Ref()}
	for _, t := range d.Typed {
		switch {
		case t.Exactly:
			lines = append(lines, fmt.Sprintf("verifier approve %s --exactly --minutes %d", c.Ref(), t.Minutes))
		case t.Minutes > 0:
			lines = append(lines, fmt.Sprintf("verifier approve %s --minutes %d", c.Ref(), t.Minutes))
		}
	}
	return append(lines, "verifier deny "+c.Ref())
}

// stopped reports whether a card tells of what the auditor stopped already.
func stopped(c *approval.Card) bool { return len(c.Questions) == 1 && c.Questions[0].Ask.Blocked != "" }

func title(c *approval.Card, expired bool) string {
	text := "Approval needed: " + c.Ref()
	if stopped(c) {
		text = "Blocked: " + c.Ref()
	}
	if expired {
		text = "Expired: " + c.Ref()
	}
	if len(c.Questions) > 1 {
		text += fmt.Sprintf(", %d calls", len(c.Questions))
	}
	return text
}

// document draws a document. Buttons can't be drawn.
func (p *page) document(d *Document) {
	p.rule(d.Title)
	for i := range d.Blocks {
		p.block(&d.Blocks[i])
	}
	if len(d.Typed) == 0 {
		return
	}
	if last := d.Blocks[len(d.Blocks)-1]; last.Kind != Note {
		p.blank()
	}
	for _, t := range d.Typed {
		p.field(t.Label, t.Line)
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
	default:
		p.note(strings.TrimSpace(b.Label + " " + b.Text))
	}
}
