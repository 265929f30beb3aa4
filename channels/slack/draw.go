package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Limits of a message: https://docs.slack.dev/reference/block-kit/blocks and
// https://docs.slack.dev/reference/block-kit/block-elements/button-element
const (
	maxBlocks    = 50
	maxBlockText = 3000 // characters; for rich text Slack documents none, so it is held to that of a section
	maxButtons   = 25   // in one block
	maxLabel     = 75   // of a button
	maxValue     = 2000
	maxActionID  = 255
)

// maxMessage is how many bytes the blocks of a message may have together. Slack
// documents no such limit and refuses from some 12,000 characters on, with what
// is around them: https://github.com/slackapi/bolt-js/issues/2509
const maxMessage = 10_000

// drawing is a message in blocks. Foreign text is only in elements of rich
// text, whose type says what they are: in a text there is no markup, so nothing
// has to be escaped and nothing can break out.
type drawing struct {
	text    string // for notifications; it is sent escaped, see literally
	blocks  []slack.Block
	rich    *slack.RichTextBlock   // the last block, while it is one of text
	section *slack.RichTextSection // its last part, while lines can be added to it
	length  int                    // of the last block of text, in characters
	tooLong bool                   // a block is longer than Slack takes
}

// draw lays a document out and says whether Slack has room for it.
func draw(doc *channels.Document) (*drawing, bool) {
	d := &drawing{text: inert.Replace(strings.TrimSpace(doc.Sign + " " + doc.FirstLine()))}
	d.bold(strings.TrimSpace(doc.Sign + " " + doc.Title))
	d.plain(space(doc.Title, doc.Of))
	d.literal(doc.Of)
	d.plain(space(doc.Title, doc.Then) + doc.Then)
	d.paragraph()
	for i := range doc.Blocks {
		d.block(&doc.Blocks[i])
	}
	if len(doc.Buttons) > 0 {
		d.paragraph()
		block := d.actions(doc.Buttons)
		if doc.Link != "" {
			page := slack.NewButtonBlockElement("page", "page", words(doc.LinkTitle))
			page.URL = doc.Link
			block.Elements.ElementSet = append(block.Elements.ElementSet, page)
		}
		d.blocks = append(d.blocks, block)
		d.tooLong = d.tooLong || len(block.Elements.ElementSet) > maxButtons
	}
	return d, d.fits()
}

// inert keeps Slack from making a mention or a link of the text of a notification, by a character without width.
var inert = strings.NewReplacer("@", "@\u2060", "://", ":\u2060//", ".", ".\u2060")

// words are our own, in a place where Slack formats nothing.
func words(s string) *slack.TextBlockObject {
	literally := false
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: s, Emoji: &literally}
}

// paragraph begins a new one.
func (d *drawing) paragraph() { d.rich, d.section = nil, nil }

func (d *drawing) block(b *channels.Block) {
	if b.Gap {
		d.paragraph()
	}
	d.line()
	switch b.Kind {
	case channels.Field:
		d.bold(b.Label + ":")
		d.plain(b.Between())
		d.literal(b.Text)
	case channels.Quote:
		d.bold(b.Label)
		d.preformatted(b.Text)
	case channels.Warning:
		d.plain("⚠️ ")
		d.bold(b.Label)
		d.plain(space(b.Label, b.Text))
		d.literal(b.Text)
	default:
		d.plain(b.Label)
		d.plain(space(b.Label, b.Text))
		d.literal(b.Text)
	}
}

// space separates two texts, if there are two.
func space(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return " "
}

// line begins a new one, unless this one is empty.
func (d *drawing) line() {
	if d.section != nil {
		d.plain("\n")
	}
}

func (d *drawing) plain(s string) { d.styled(s, nil) }

func (d *drawing) bold(s string) { d.styled(s, &slack.RichTextSectionTextStyle{Bold: true}) }

// literal adds a foreign text. It is no more literal than any other text here;
// that it looks different shows that it is not ours.
func (d *drawing) literal(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			d.plain("\n")
		}
		d.styled(line, &slack.RichTextSectionTextStyle{Code: true})
	}
}

func (d *drawing) styled(s string, style *slack.RichTextSectionTextStyle) {
	if s == "" { // Slack refuses an empty text
		return
	}
	if d.section == nil {
		d.section = slack.NewRichTextSection()
		d.add(d.section)
	}
	d.section.Elements = append(d.section.Elements, d.element(s, style))
}

// element is a text in the last block.
func (d *drawing) element(s string, style *slack.RichTextSectionTextStyle) slack.RichTextSectionElement {
	d.length += utf8.RuneCountInString(s)
	d.tooLong = d.tooLong || d.length > maxBlockText
	return slack.NewRichTextSectionTextElement(s, style)
}

// preformatted adds a foreign text of which every character counts.
func (d *drawing) preformatted(s string) {
	s = cmp.Or(s, " ")
	text := &slack.RichTextPreformatted{Type: slack.RTEPreformatted}
	d.add(text)
	text.Elements = []slack.RichTextSectionElement{d.element(s, nil)}
	d.section = nil
}

func (d *drawing) add(e slack.RichTextElement) {
	if d.rich == nil {
		d.rich, d.length = slack.NewRichTextBlock(""), 0
		d.blocks = append(d.blocks, d.rich)
	}
	d.rich.Elements = append(d.rich.Elements, e)
}

// answerID is what the ids of our buttons begin with.
const answerID = "answer_"

func (d *drawing) actions(buttons []channels.Button) *slack.ActionBlock {
	block := slack.NewActionBlock("")
	for _, b := range buttons {
		id := fmt.Sprintf("%s%c", answerID, b.Action)
		e := slack.NewButtonBlockElement(id, b.Handle, words(b.Label))
		switch {
		case !b.First():
		case b.Action == approval.AllowOnce, b.Action == approval.AllowSeen, b.Action == approval.AllowFile:
			e.Style = slack.StylePrimary
		case b.Action == approval.DenyCall:
			e.Style = slack.StyleDanger
		}
		block.Elements.ElementSet = append(block.Elements.ElementSet, e)
		d.tooLong = d.tooLong || utf8.RuneCountInString(b.Label) > maxLabel || len(b.Handle) > maxValue || len(id) > maxActionID
	}
	return block
}

// fits reports whether Slack takes it.
func (d *drawing) fits() bool {
	size, err := json.Marshal(d.blocks)
	return err == nil && len(size) <= maxMessage && len(d.blocks) <= maxBlocks && !d.tooLong
}

// said is a message of one text, which may hold foreign words.
func said(text string) *drawing {
	d := &drawing{text: "Verifier"}
	text = shorten(text)
	if strings.Contains(text, "\n") {
		d.preformatted(text)
	} else {
		d.styled(text, nil)
	}
	return d
}

// shorten cuts a list that is longer than a block.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > maxBlockText {
		return string(r[:maxBlockText-1]) + "…"
	}
	return s
}
