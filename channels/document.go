package channels

import (
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Document is a card as every platform shows it: the same words in the same
// order. What a platform adds is only how it draws them.
//
// Title, Then, labels and the names of buttons are our own words. Of and each
// Text were written by others, have been through [Safe], and have to be shown
// literally: where they can neither format, link nor mention.
type Document struct {
	Sign      string // a picture of the card's state, for platforms that have room for one
	Title     string // what will happen or has, with Of and Then: the first line
	Of        string // may be empty
	Then      string // may be empty
	Blocks    []Block
	Typed     []Typed  // lines that answer it; they are among the blocks
	Buttons   []Button // none: nothing can be answered here any more
	Full      bool     // all that will run can be read on it
	Link      string   // where your page shows all of the card; empty: nowhere, or all of it is here
	LinkTitle string   // of the button that opens it
	Cut       bool     // something is longer than the document: the whole belongs beside it, see [Whole]
	always    bool     // a standing consent can be given for what it asks, on the page
}

// Kind is how a block is drawn.
type Kind uint8

// The kinds of blocks.
const (
	Field   Kind = iota // a label and what it is about, which may have several lines
	Quote               // what the agent wrote, under its label: every character of it counts, so monospace
	Note                // a sentence of ours, and then perhaps a text
	Warning             // a sentence of ours that must be seen
)

// Part is what a block is about, for a platform that gives each its place.
type Part uint8

// The parts of a card.
const (
	OfRest  Part = iota
	OfCall       // the literal call
	OfAsked      // what the owner asked for
	OfWhy        // why a person is asked
	OfRisk       // what to notice first
	OfTime       // the reference and the time left
	OfScope      // what a longer yes covers
	OfTyped      // a line that answers the card
	OfFate       // what became of it
)

// Block is one thing that a card says.
type Block struct {
	Kind  Kind
	Part  Part
	Label string // our words; may be empty
	Text  string // literally; may be empty
	Gap   bool   // a new paragraph begins here
	Diff  bool   // lines that begin with a minus go, those with a plus come
}

// Between separates a block's label from its text: several lines begin below it.
func (b *Block) Between() string {
	if strings.Contains(b.Text, "\n") {
		return "\n"
	}
	return " "
}

// Typed is a line that answers a card.
type Typed struct {
	Label string // what it grants
	Line  string
	Scope approval.Scope
}

// Button is something to tap.
type Button struct {
	Action approval.Action
	Label  string
	Handle string // what the tap brings back
}

// First reports whether the button belongs to the first row: those of a card before More.
func (b *Button) First() bool {
	switch b.Action {
	case approval.AllowOnce, approval.AllowSeen, approval.AllowFile, approval.DenyCall, approval.Details:
		return true
	default:
		return false
	}
}

// Titles of the button that opens [Document.Link].
const (
	PageLabel   = "Read it on your page"
	AlwaysLabel = "Always… on your page"
)

// LinkTo gives an open question a link to your page, where its cards are, if not all of it can be read here,
// or if its details are shown and it can be allowed for days, which only the page does; an empty page is none.
func (d *Document) LinkTo(page string, c *approval.Card) *Document {
	if page == "" || len(d.Buttons) == 0 {
		return d
	}
	switch {
	case d.Cut || !d.Full:
		d.Link, d.LinkTitle = page+c.ID, PageLabel
	case d.always:
		d.Link, d.LinkTitle = page+c.ID, AlwaysLabel
	}
	return d
}

// FirstLine is the document's first line as one text.
func (d *Document) FirstLine() string { return Headline{d.Title, d.Of, d.Then}.String() }

// Show is the card in its present state: a question, or what became of it. Where o is
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

// Details is all there is to see of a card, however long, with every answer that
// can be given: what a tap on More shows.
func Details(c *approval.Card, now time.Time) *Document { return details(c, now, &unbounded) }

func details(c *approval.Card, now time.Time, r *room) *Document {
	d := question(c, nil, now, r)
	d.Buttons = nil
	d.Blocks = append(d.Blocks, detailBlocks(c, r)...)
	if !now.Before(c.Ask.Until) {
		return d
	}
	if unread(c) { // what is hidden by choice is read before it is allowed
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Part: OfScope, Label: notRead, Gap: true})
		if c.Code != "" {
			d.Typed = []Typed{denyLine(c)}
			d.Blocks = append(d.Blocks, Block{Kind: Field, Part: OfTyped, Label: d.Typed[0].Label, Text: d.Typed[0].Line, Gap: true})
		}
		d.Buttons = []Button{button(c, approval.DenyCall, "Deny")}
		return d
	}
	longer, why := lasting(c)
	if why != "" {
		d.Blocks = append(d.Blocks, Block{Kind: Note, Part: OfScope, Label: why, Gap: true})
	}
	d.Blocks = append(d.Blocks, covers(c, longer)...)
	if c.Code != "" {
		d.Typed = typed(c, longer)
	}
	for i, t := range d.Typed {
		d.Blocks = append(d.Blocks, Block{Kind: Field, Part: OfTyped, Label: t.Label, Text: t.Line, Gap: i == 0})
	}
	d.Buttons = detailsButtons(c, longer)
	d.always = c.Ask.Always != "" && longer > 0
	return d
}

// unread reports whether a card hides what a call writes to files because the config says so.
func unread(c *approval.Card) bool { return c.Ask.Bodies > 0 }

// Call is the call of a card as one look can take it, for a page that says what became of it.
func Call(c *approval.Card) []Block {
	var d Document
	r := normal.brief()
	d.call(c, &r)
	return d.Blocks
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
		return settled(c, o, now, r)
	}
	return question(c, o, now, r)
}

func notice(text string) *Document {
	text, _ = Safe(text, Form{Lines: true, Limit: normal.main})
	return &Document{Sign: "📣", Title: "Notice", Blocks: []Block{{Kind: Note, Text: text}}, Full: true}
}

// question draws an open question, and above it the votes that it has so far. Beside
// the literal call it has [mostLines] lines at most.
func question(c *approval.Card, o *approval.Outcome, now time.Time, r *room) *Document {
	expired := !now.Before(c.Ask.Until)
	d := &Document{Sign: "🔐", Full: true}
	d.head(c, expired)
	if o != nil && o.Text != "" {
		d.Blocks = append(d.Blocks, Block{Kind: Note, Part: OfFate, Text: r.inline(o.Text)})
	}
	if stopped(c) {
		why := blockedAction
		if c.Ask.Unheard {
			why = blockedUnseen
		}
		d.Blocks = append(d.Blocks, Block{Kind: Note, Part: OfFate, Label: why, Text: r.inline(c.Ask.Blocked)})
	}
	d.call(c, r)
	d.Blocks = append(d.Blocks, contextBlocks(&c.Ask, r)...)
	if risks := risksOf(c); len(risks) > 0 {
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Part: OfRisk, Label: strings.Join(risks, " · ")})
	}
	d.Blocks = append(d.Blocks, Block{
		Kind: Field, Part: OfTime, Label: "ref", Text: c.Ref() + ", " + timeLeft(c.Ask.Until, now),
	})
	if expired {
		d.Sign = "⌛"
		return d
	}
	d.Buttons = buttons(c, d.Full)
	return d
}

// head is the first line.
func (d *Document) head(c *approval.Card, expired bool) {
	h := Head(&c.Ask)
	switch {
	case expired:
		h.Says = "Expired: " + h.Says
	case stopped(c):
		h.Says = "Blocked: " + h.Says
	}
	d.Title, d.Of, d.Then = h.Says, h.Of, h.Then
}

// risksOf are the risks of a card's call, each once, in our own words.
func risksOf(c *approval.Card) (out []string) {
	for _, r := range c.Ask.Risks {
		if r = inline(r, normal.name); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// call shows what will run, and notes what can't be seen of it.
func (d *Document) call(c *approval.Card, r *room) {
	seen := look(&c.Ask, r)
	d.Blocks = append(d.Blocks, callBlocks(c, &seen, r)...)
	if !r.roomy && !seen.seen.Full() {
		d.Blocks = append(d.Blocks, notVisible(seen.seen))
	}
	d.Full, d.Cut = d.Full && seen.seen.Full(), d.Cut || seen.seen.Cut > 0
}

// settled is what became of a card: a line that says who answered, when, and what ran.
func settled(c *approval.Card, o *approval.Outcome, now time.Time, r *room) *Document {
	word, sign := ending(c, o)
	f := fateOf(c, o, r)
	return &Document{Sign: sign, Title: word, Full: true, Of: f.rest(now.Location())}
}

// Visibility counts what a person who reads the card does not see as it is.
// The zero Visibility is that everything is there to be read.
type Visibility struct {
	Report
	Hidden int // values that were redacted
}

// Full reports whether all that will run can be read on the card.
func (v Visibility) Full() bool { return v == Visibility{} }

// FullyDetailed reports whether a person who sees the details of this call sees all that will run.
func FullyDetailed(a *approval.Ask) bool { return look(a, &unbounded).seen.Full() }

// FullyVisible reports whether a person who sees the card of this call sees all
// that will run, and if not, why: values are hidden, text is cut, characters
// are shown by their number. A channel takes the one-tap Allow away from a card
// with such a question; the full view or the typed code remains. Only the call
// counts, its tool and its arguments, since only these run.
func FullyVisible(a *approval.Ask) (bool, []string) {
	seen := look(a, &normal).seen
	return seen.Full(), seen.Reasons()
}

// room is how much of a card is shown, in columns. What does not fit is cut, and
// says so.
type room struct {
	name  int  // of a tool or an argument
	main  int  // of each argument that says what the call does
	arg   int  // of each other one
	other int  // of all the others together
	field int  // of an identifier
	said  int  // of a sentence
	mains int  // how many arguments that say what the call does; 0 is all
	ended bool // nothing is asked any more: who voted is shown above
	roomy bool // there is room to say who voted, and what is not visible beside it
}

// normal is what one screen and one look can take: about 30 lines. What fits it
// is fully visible; the policy counts on that, see [FullyVisible].
var normal = room{name: 120, main: 2400, arg: 480, other: 2400, field: 600, said: 400, roomy: true}

// unbounded leaves nothing out.
var unbounded = room{roomy: true}

// rooms are tried in this order until a platform has room for one.
var rooms = []room{
	normal,
	{name: 80, main: 1200, arg: 240, other: 600, field: 200, said: 300, roomy: true},
	{name: 60, main: 600, arg: 120, other: 240, field: 120, said: 200, roomy: true},
	{name: 40, main: 240, arg: 80, other: 80, field: 80, said: 120},
	{name: 30, main: 60, arg: 40, other: 40, field: 60, said: 80, mains: 3},
	{name: 20, main: 40, other: none, field: 40, said: 60, mains: 1},
}

// none is a limit that lets nothing through; 0 would be no limit.
const none = -1

// brief is the room for a card that asks nothing any more.
func (r *room) brief() room {
	b := *r
	b.main, b.arg, b.other = atMost(r.main, 600), atMost(r.arg, 120), atMost(r.other, 240)
	b.field, b.said, b.ended = atMost(r.field, 200), atMost(r.said, 200), true
	return b
}

func atMost(limit, most int) int {
	if limit == 0 {
		return most
	}
	return min(limit, most)
}

// inline is Safe for a sentence around a call. What is cut there says so in its
// place; it does not run.
func (r *room) inline(s string) string { return inline(s, r.said) }

// id is Safe for an identifier around a call. A secret may be in it, too.
func (r *room) id(a *approval.Ask, s string) string { return inline(a.Name(s), r.field) }

func inline(s string, limit int) string {
	text, _ := Safe(s, Form{Limit: limit})
	return text
}
