package telegram

import (
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels"
)

// Limits of a message: https://core.telegram.org/bots/api#sendmessage,
// https://core.telegram.org/bots/api#senddocument,
// https://core.telegram.org/bots/api#answercallbackquery and
// https://limits.tginfo.me/en
const (
	maxText     = 4096 // UTF-16 units
	maxCaption  = 1024
	maxEntities = 100
	maxAlert    = 200 // characters
)

// drawing is a text and the places in it that are emphasised. There is no
// markup in the text: nothing has to be escaped, and nothing can break out.
type drawing struct {
	text     strings.Builder
	units    int // UTF-16
	entities []models.MessageEntity
	keyboard [][]models.InlineKeyboardButton
}

// plain adds our own words.
func (d *drawing) plain(s string) {
	d.text.WriteString(s)
	d.units += units(s)
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// styled adds a text in a style. Telegram gives no style to white space around
// it, so that is left out of the style.
func (d *drawing) styled(style models.MessageEntityType, s string) {
	inner := strings.TrimSpace(s)
	if inner == "" {
		d.plain(s)
		return
	}
	lead, trail, _ := strings.Cut(s, inner)
	d.plain(lead)
	d.entities = append(d.entities, models.MessageEntity{Type: style, Offset: d.units, Length: units(inner)})
	d.plain(inner)
	d.plain(trail)
}

func (d *drawing) bold(s string) { d.styled(models.MessageEntityTypeBold, s) }

// literal adds a foreign text: in code nothing is linked or mentioned.
func (d *drawing) literal(s string) { d.styled(models.MessageEntityTypeCode, s) }

// draw lays a document out and says whether Telegram has room for it.
func draw(doc *channels.Document) (*drawing, bool) {
	d := &drawing{}
	d.head(doc)
	for i := range doc.Blocks {
		d.block(&doc.Blocks[i])
	}
	d.keyboard = keyboard(doc.Buttons)
	if doc.Link != "" {
		d.keyboard = append(d.keyboard, []models.InlineKeyboardButton{{Text: doc.LinkTitle, URL: doc.Link}})
	}
	return d, d.units <= maxText && len(d.entities) <= maxEntities
}

// head is the first line: a phone shows it on its lock screen.
func (d *drawing) head(doc *channels.Document) {
	d.bold(strings.TrimSpace(doc.Sign + " " + doc.Title))
	if doc.Of != "" {
		d.plain(" ")
		d.literal(doc.Of)
	}
	if doc.Then != "" {
		d.plain(" " + doc.Then)
	}
}

func (d *drawing) block(b *channels.Block) {
	d.plain("\n")
	if b.Gap {
		d.plain("\n")
	}
	switch b.Kind {
	case channels.Field:
		d.bold(b.Label + ":")
		d.plain(b.Between())
		d.literal(b.Text)
	case channels.Quote:
		d.bold(b.Label)
		d.plain("\n")
		d.styled(models.MessageEntityTypePre, b.Text)
	case channels.Warning:
		d.plain("⚠️ ")
		d.bold(b.Label)
	default:
		d.plain(b.Label)
		if b.Label != "" && b.Text != "" {
			d.plain(" ")
		}
		d.literal(b.Text)
	}
}

// keyboard puts the buttons of every card into the first row, and each that More adds into a row of its own.
func keyboard(buttons []channels.Button) [][]models.InlineKeyboardButton {
	var rows [][]models.InlineKeyboardButton
	for i := range buttons {
		b := &buttons[i]
		drawn := models.InlineKeyboardButton{Text: b.Label, CallbackData: b.Handle}
		if i > 0 && b.First() {
			rows[0] = append(rows[0], drawn)
			continue
		}
		rows = append(rows, []models.InlineKeyboardButton{drawn})
	}
	return rows
}

// unlink takes the link to the page away, and reports whether there was one.
func (d *drawing) unlink() bool {
	last := len(d.keyboard) - 1
	if last < 0 || d.keyboard[last][0].URL == "" {
		return false
	}
	d.keyboard = d.keyboard[:last]
	return true
}

// markup is the keyboard for a request; nil where there is none.
func (d *drawing) markup() models.ReplyMarkup {
	if len(d.keyboard) == 0 {
		return nil
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: d.keyboard}
}

// alert cuts a text to what Telegram shows in one.
func alert(s string) string {
	if r := []rune(s); len(r) > maxAlert {
		return string(r[:maxAlert-1]) + "…"
	}
	return s
}
