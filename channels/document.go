package channels

import (
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Document is a card as every platform shows it: the same words in the same
// order. What a platform adds is only how it draws them.
//
// Title, labels and the names of buttons are our own words. Each Text was
// written by others, has been through [Safe], and has to be shown literally:
// where it can neither format, link nor mention.
type Document struct {
	Ref     string
	Sign    string // a picture of where the card stands, for platforms that have room for one
	Title   string
	Blocks  []Block
	Typed   []Typed  // lines that answer it, each to be copied as it stands; the last allow is the longest
	Buttons []Button // none: nothing can be answered here any more
	Full    bool     // all that will run can be read on it
	Cut     bool     // something is longer than the document: the whole belongs beside it, see [Whole]
}

// Kind is how a block is drawn.
type Kind uint8

// The kinds of blocks.
const (
	Field   Kind = iota // a label and what it is about, which may have several lines
	Quote               // what the agent wrote, under its label: every sign of it counts, so monospace
	Note                // a sentence of ours, and then perhaps a text
	Warning             // a sentence of ours that must be seen
)

// Block is one thing that a card says.
type Block struct {
	Kind  Kind
	Label string // our words; may be empty
	Text  string // literally; may be empty
	Gap   bool   // a new paragraph begins here
}

// Typed is a line that answers a card.
type Typed struct {
	Label   string
	Line    string // or lines, of which each is one answer
	Allow   bool
	Exactly bool // only this very call, for the minutes
	Minutes int  // 0 is once
}

// Button is something to tap.
type Button struct {
	Action approval.Action
	Label  string
	Handle string // what the tap brings back
	Allows bool
	Denies bool
}

// Line is the one line to show where there is room for one: the allow that
// reaches furthest. It is empty where nothing can be typed.
func (d *Document) Line() string {
	line := ""
	for _, t := range d.Typed {
		if t.Allow {
			line = t.Line
		}
	}
	return line
}

// Show is the card as it stands: a question, or what became of it. Where o is
// nil it was just sent.
//
// A platform has less room than a card may need: lay says whether what it made
// of a document fits. If not it gets a shorter one, which says what it leaves
// out and has no button that allows. The shortest is taken as it is.
func Show[T any](c *approval.Card, o *approval.Outcome, now time.Time, lay func(*Document) (T, bool)) T {
	shortest := len(rooms) - 1
	for i := range shortest {
		if laid, fits := lay(document(c, o, now, &rooms[i])); fits {
			return laid
		}
	}
	laid, _ := lay(document(c, o, now, &rooms[shortest]))
	return laid
}

// Details is all there is to see of a card, however long, with the button that
// allows what was seen.
func Details(c *approval.Card, now time.Time) *Document {
	d := document(c, nil, now, &unbounded)
	d.Title, d.Typed, d.Buttons = "Details of "+c.Ref(), nil, nil
	for i := range c.Questions {
		d.Blocks = append(d.Blocks, fine(&c.Questions[i].Ask, i, len(c.Questions))...)
	}
	if now.Before(c.Until()) {
		if l := c.Likely(); l != nil {
			d.Blocks = append(d.Blocks, Block{Kind: Note, Text: unbounded.inline(l.String()), Gap: true})
		}
		d.Buttons = detailsButtons(c)
	}
	return d
}

// Whole is a document as plain text of any length, for an attachment.
func Whole(d *Document) string {
	var p page
	p.document(d)
	return p.b.String()
}

func document(c *approval.Card, o *approval.Outcome, now time.Time, r *room) *Document {
	switch {
	case c.Notice() != "":
		return notice(c.Notice())
	case o != nil && o.State != approval.Open:
		return settled(c, o, r)
	}
	return question(c, o, now, r)
}

func notice(text string) *Document {
	text, _ = Safe(text, Form{Lines: true, Limit: normal.main})
	return &Document{Sign: "📣", Title: "Notice", Blocks: []Block{{Kind: Note, Text: text}}, Full: true}
}

// question asks. An outcome of one that is still open stands above it.
func question(c *approval.Card, o *approval.Outcome, now time.Time, r *room) *Document {
	expired := !now.Before(c.Until())
	d := &Document{Ref: c.Ref(), Sign: "🔐", Title: title(c, expired), Full: true}
	if o != nil && o.Text != "" {
		d.Blocks = append(d.Blocks, Block{Kind: Note, Text: r.inline(o.Text)})
	}
	if stopped(c) {
		a, why := &c.Questions[0].Ask, blockedAction
		if a.Unheard {
			why = blockedUnseen
		}
		d.Blocks = append(d.Blocks, Block{Kind: Note, Label: why, Text: r.inline(a.Blocked)}, Block{Kind: Note, Label: blockedHint})
	}
	calls := d.calls(c, r)
	d.contexts(c, r)
	d.Blocks = append(d.Blocks, Block{Kind: Field, Label: "time left", Text: timeLeft(c.Until(), now), Gap: true})
	if expired {
		d.Sign = "⌛"
		return d
	}
	longer, why := lasting(c, calls)
	if why != "" {
		d.Blocks = append(d.Blocks, Block{Kind: Note, Label: why, Gap: true})
	}
	d.Blocks = append(d.Blocks, covers(c, longer, r)...)
	if c.Code != "" {
		d.Typed = typed(c, longer)
	}
	d.Buttons = buttons(c, d.Full, longer)
	return d
}

// calls shows what will run, and notes what can't be seen of it.
func (d *Document) calls(c *approval.Card, r *room) []call {
	calls := make([]call, len(c.Questions))
	var all Visibility
	for i := range c.Questions {
		calls[i] = look(&c.Questions[i].Ask, r)
		if r.calls == 0 || i < r.calls {
			d.Blocks = append(d.Blocks, callBlocks(c, i, &calls[i], r)...)
		}
		all.add(calls[i].seen)
	}
	if left := len(c.Questions) - r.calls; r.calls > 0 && left > 0 {
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Label: count(left, "more call", "more calls") + " on the list, not shown here.", Gap: true})
		d.Full, d.Cut = false, true
	}
	if !r.roomy && !all.Full() {
		d.Blocks = append(d.Blocks, notVisible(all))
	}
	d.Full, d.Cut = d.Full && all.Full(), d.Cut || all.Cut > 0
	return calls
}

// contexts says where calls come from and why they are asked, once where it is
// the same for all.
func (d *Document) contexts(c *approval.Card, r *room) {
	switch {
	case len(c.Questions) == 0:
	case sameContext(c.Questions):
		d.Blocks = append(d.Blocks, contextBlocks(&c.Questions[0].Ask, "", r)...)
	case r.roomy:
		for i := range c.Questions {
			d.Blocks = append(d.Blocks, contextBlocks(&c.Questions[i].Ask, callNumber(i, len(c.Questions)), r)...)
		}
	default:
		d.Cut = true
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Label: differentContexts, Gap: true})
	}
}

// settled shows what became of a card, and of what.
func settled(c *approval.Card, o *approval.Outcome, r *room) *Document {
	word, sign := ending(c, o)
	d := &Document{Ref: c.Ref(), Sign: sign, Title: word + ": " + c.Ref(), Full: true}
	for _, line := range results(c, o, r) {
		d.Blocks = append(d.Blocks, Block{Kind: Note, Text: line})
	}
	brief := r.brief()
	d.calls(c, &brief)
	if len(c.Questions) > 0 {
		a := &c.Questions[0].Ask
		d.Blocks = append(d.Blocks,
			Block{Kind: Field, Label: "agent", Text: agentText(a, &brief), Gap: true},
			Block{Kind: Field, Label: "conversation", Text: conversationText(a, &brief)})
	}
	return d
}
