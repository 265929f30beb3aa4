package telegram

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

func TestGolden(t *testing.T) {
	channeltest.Golden(t, func(t *testing.T, f channeltest.Fixture) string {
		if f.Details {
			d, fits := draw(channels.Details(f.Card, channeltest.Now))
			if !fits {
				t.Error("the details have no room")
			}
			return sketch(t, d)
		}
		d := channels.Show(f.Card, f.Outcome, channeltest.Now, draw)
		if d.units > maxText || len(d.entities) > maxEntities {
			t.Errorf("%d units, %d entities", d.units, len(d.entities))
		}
		return sketch(t, d)
	})
}

// sketch draws a message so that its styles can be seen: **bold**, `code`, and
// pre behind a bar.
func sketch(t *testing.T, d *drawing) string {
	t.Helper()
	units := utf16.Encode([]rune(d.text.String()))
	var b strings.Builder
	at := 0
	for _, e := range d.entities {
		b.WriteString(string(utf16.Decode(units[at:e.Offset])))
		text := string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
		at = e.Offset + e.Length
		switch e.Type {
		case models.MessageEntityTypeBold:
			b.WriteString("**" + text + "**")
		case models.MessageEntityTypeCode:
			b.WriteString("`" + text + "`")
		case models.MessageEntityTypePre:
			b.WriteString("│ " + strings.ReplaceAll(text, "\n", "\n│ "))
		default:
			t.Errorf("a style that no card has: %+v", e)
		}
	}
	b.WriteString(string(utf16.Decode(units[at:])) + "\n")
	for _, row := range d.keyboard {
		for i, k := range row {
			if i > 0 {
				b.WriteString(" ")
			}
			fmt.Fprintf(&b, "[%s]", k.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A text is sent as it is, and all that is foreign stands in code: Telegram
// links, mentions and formats nothing there.
func FuzzForeignTextIsLiteral(f *testing.F) {
	for _, s := range []string{"", " ", "a", "</code><b>", "https://evil.example @everyone", "👨‍👩‍👧 `x` *y*", "\U0001F600\U0001F600", " padded ", "\n", "a\nb", "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		one, _ = channels.Safe(one, channels.Form{Lines: true, Limit: 500})
		two, _ = channels.Safe(two, channels.Form{Limit: 500})
		doc := &channels.Document{Title: "T", Blocks: []channels.Block{
			{Kind: channels.Field, Label: "F", Text: one}, {Kind: channels.Quote, Label: "Q", Text: two},
			{Kind: channels.Note, Label: "N", Text: one}, {Kind: channels.Warning, Label: "W"}, {Kind: channels.Note, Text: two},
		}}
		d, fits := draw(doc)
		if !fits {
			return
		}
		text := d.text.String()
		if units := utf16.Encode([]rune(text)); len(units) != d.units {
			t.Fatalf("%d units, counted as %d", len(units), d.units)
		}
		plain := outside(t, text, d.entities)
		for _, foreign := range []string{one, two} {
			if !strings.Contains(text, foreign) {
				t.Fatalf("not literally there: %q in %q", foreign, text)
			}
		}
		// Beyond our own words only white space is left outside of code.
		if got := strings.Join(strings.Fields(plain), ""); got != "TF:QN⚠️W" {
			t.Fatalf("outside of code stands %q in %q", got, text)
		}
	})
}

// outside is what is not in code, and checks the places: in order, in the text,
// between characters.
func outside(t *testing.T, text string, entities []models.MessageEntity) string {
	t.Helper()
	units := utf16.Encode([]rune(text))
	var out []uint16
	at := 0
	for _, e := range entities {
		end := e.Offset + e.Length
		if e.Offset < at || e.Length <= 0 || end > len(units) {
			t.Fatalf("%+v is out of place", e)
		}
		out = append(out, units[at:e.Offset]...)
		if e.Type == models.MessageEntityTypeBold {
			out = append(out, units[e.Offset:end]...)
		}
		if part := string(utf16.Decode(units[e.Offset:end])); strings.ContainsRune(part, '\uFFFD') && !strings.ContainsRune(text, '\uFFFD') {
			t.Fatalf("%+v splits a character", e)
		}
		at = end
	}
	return string(utf16.Decode(append(out, units[at:]...)))
}

func TestAnAlertIsCutToWhatTelegramShows(t *testing.T) {
	if got := alert(strings.Repeat("ж", 500)); len([]rune(got)) != maxAlert || alert("short") != "short" {
		t.Errorf("%d characters", len([]rune(got)))
	}
	if got := shorten(strings.Repeat("😀", 5000)); units(got) > maxText {
		t.Errorf("%d units", units(got))
	}
}
