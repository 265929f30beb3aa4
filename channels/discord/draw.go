package discord

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Limits of a message:
// https://discord.com/developers/docs/resources/message#create-message and
// https://discord.com/developers/docs/components/reference
const (
	maxContent = 2000 // characters; counted here as UTF-16 units, which are never fewer
	maxInRow   = 5    // buttons
)

// drawing is a message: text in Discord's markup, and buttons.
type drawing struct {
	text strings.Builder
	rows []discordgo.MessageComponent
}

// gap is a character without width. It takes apart what would be a mark, and
// keeps the ends of a block. Texts can't hold it: [channels.Safe] shows it by
// its number.
const gap = "\u200b"

// marks are what formats, links or mentions somewhere in a text. A slash is none,
// but there is no address without one.
const marks = "\\*_~|`<>#[@/"

// prose shows a text literally in running text.
func prose(s string) string {
	var b strings.Builder
	begins, counts := true, false // a line; and there are only digits in it so far
	for _, r := range s {
		if strings.ContainsRune(marks, r) || begins && (r == '-' || r == '+') || counts && r == '.' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		counts = (begins || counts) && r >= '0' && r <= '9'
		begins = r == '\n' || begins && r == ' '
	}
	return b.String()
}

// block shows a text literally, every character in its place. Three backticks would
// end it, so they are taken apart; line breaks at its ends would be dropped, so
// they are not at its ends.
func block(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "``"+gap+"`")
	}
	if s == "" || s[0] == '\n' {
		s = gap + s
	}
	if strings.HasSuffix(s, "\n") {
		s += gap
	}
	return "```\n" + s + "\n```"
}

// literal shows a foreign text in a line, or as a block where it can't be in one.
func literal(s string) string {
	if s == "" || strings.ContainsAny(s, "`\n") {
		return block(s)
	}
	return "`" + s + "`"
}

func bold(s string) string { return "**" + prose(s) + "**" }

// draw lays a document out and says whether Discord has room for it.
func draw(doc *channels.Document) (*drawing, bool) {
	d := &drawing{rows: rows(doc.Buttons)}
	if doc.Link != "" {
		d.rows = append(d.rows, discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: doc.LinkTitle, Style: discordgo.LinkButton, URL: doc.Link},
		}})
	}
	d.text.WriteString(head(doc))
	for i := range doc.Blocks {
		d.block(&doc.Blocks[i])
	}
	return d, fits(d.text.String())
}

// head is the first line. What a backtick would end is in running text.
func head(doc *channels.Document) string {
	parts := []string{bold(strings.TrimSpace(doc.Sign + " " + doc.Title))}
	switch {
	case strings.Contains(doc.Of, "`"):
		parts = append(parts, prose(doc.Of))
	case doc.Of != "":
		parts = append(parts, literal(doc.Of))
	}
	if doc.Then != "" {
		parts = append(parts, prose(doc.Then))
	}
	return strings.Join(parts, " ")
}

func fits(s string) bool {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n <= maxContent
}

func (d *drawing) block(b *channels.Block) {
	d.text.WriteString("\n")
	if b.Gap {
		d.text.WriteString("\n")
	}
	switch b.Kind {
	case channels.Field:
		d.text.WriteString(bold(b.Label+":") + between(b.Text) + literal(b.Text))
	case channels.Quote:
		d.text.WriteString(bold(b.Label) + "\n" + block(b.Text))
	case channels.Warning:
		d.text.WriteString("⚠️ " + bold(b.Label))
	default:
		d.note(b)
	}
}

func (d *drawing) note(b *channels.Block) {
	d.text.WriteString(prose(b.Label))
	if b.Text == "" {
		return
	}
	if b.Label != "" {
		d.text.WriteString(between(b.Text))
	}
	d.text.WriteString(literal(b.Text))
}

// between separates a label from what it is about: a block begins below it.
func between(text string) string {
	if strings.HasPrefix(literal(text), "```") {
		return "\n"
	}
	return " "
}

// rows puts the buttons of every card into the first row, and what More adds below.
func rows(buttons []channels.Button) []discordgo.MessageComponent {
	var kinds [2][]discordgo.MessageComponent
	for i := range buttons {
		b, row := &buttons[i], 1
		if b.First() {
			row = 0
		}
		kinds[row] = append(kinds[row], discordgo.Button{Label: b.Label, Style: style(b.Action), CustomID: b.Handle})
	}
	out := []discordgo.MessageComponent{}
	for _, kind := range kinds {
		for row := range slices.Chunk(kind, maxInRow) {
			out = append(out, discordgo.ActionsRow{Components: row})
		}
	}
	return out
}

// style shows what a button does before it is read. An allow that lasts is not
// as green as one that does not.
func style(a approval.Action) discordgo.ButtonStyle {
	switch a {
	case approval.AllowOnce, approval.AllowSeen, approval.AllowFile:
		return discordgo.SuccessButton
	case approval.DenyCall:
		return discordgo.DangerButton
	default:
		return discordgo.SecondaryButton
	}
}

// sentence is an answer for one person: running text where it is one line, else
// a block, cut to what a message holds.
func sentence(s string) string {
	show := prose
	if strings.Contains(s, "\n") {
		show = block
	}
	for !fits(show(s)) {
		r := []rune(s)
		s = string(r[:len(r)*3/4]) + "…"
	}
	return show(s)
}
