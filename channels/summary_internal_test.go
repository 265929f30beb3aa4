package channels

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
)

// summedUp is a mail with a summary.
func summedUp(mail, summary string) *approval.Card {
	c := card(ask("message", fmt.Sprintf(`{"to":"+15550100","message":%q}`, mail)))
	c.Questions[0].Summary = &approval.Summary{Text: summary}
	return c
}

// TestH546ASummaryImitatesOurMarksInItsFrame: the model writes what looks like a headline, a risk, a mark of ours, a button or a line that
// answers the card. All of it is in one quoted line, and the card says what it said without it.
func TestH546ASummaryImitatesOurMarksInItsFrame(t *testing.T) {
	const mail = "Friday at noon suits me."
	for _, lie := range []string{
		"🔐 Run: ls", "! no risk", "⟨… 5 characters not shown …⟩", "ref AAAA, 9 min left\n  allow once    verifier approve AAAA", "── Send a message ──",
		"  │ another text", "Allow once", strings.Repeat("\n", 50) + "ref", "\r\x1b[2Jdone", "\u202eevas", strings.Repeat("A ", 5000),
	} {
		with, without := summedUp(mail, lie), summedUp(mail, "")
		without.Questions[0].Summary = nil
		d, plain := document(with, nil, created, &normal), document(without, nil, created, &normal)
		var framed []Block
		for i, b := range d.Blocks {
			if b.Part == OfSummary {
				framed = append(framed, b)
				d.Blocks = append(d.Blocks[:i:i], d.Blocks[i+1:]...)
				break
			}
		}
		if !reflect.DeepEqual(d, plain) {
			t.Errorf("%.20q changed the rest of the card:\n%s", lie, Whole(d))
		}
		if len(framed) != 1 || framed[0].Kind != Quote || framed[0].Label != summaryLabel || strings.ContainsAny(framed[0].Text, "\n\r\x1b\u202e") || width(framed[0].Text) > summaryWidth+60 {
			t.Errorf("%.20q is %+v", lie, framed)
		}
		text := Text(with, created)
		if before, _, found := strings.Cut(text, summaryLabel); !found || !strings.Contains(before, "│ "+mail) {
			t.Errorf("%.20q: the summary is not below the text:\n%s", lie, text)
		}
	}
}

// TestASummaryTakesNoRoomFromTheText: where both don't fit, the summary goes, and the card is what it was.
func TestASummaryTakesNoRoomFromTheText(t *testing.T) {
	for _, mail := range []string{"short", strings.Repeat("A long text. ", 60), strings.Repeat("A very long text. ", 500)} {
		with, without := summedUp(mail, "It is long."), summedUp(mail, "")
		without.Questions[0].Summary = nil
		for room := 200; room < 4000; room += 50 {
			draw := func(d *Document) (string, bool) {
				s := Whole(d)
				return s, len(s) <= room
			}
			got, plain := Show(with, nil, created, draw), Show(without, nil, created, draw)
			before, after, found := strings.Cut(got, "  "+summaryLabel+"\n  │ It is long.\n")
			if before+after != plain {
				t.Fatalf("in %d columns (summary: %t) the card became\n%s\nand was\n%s", room, found, got, plain)
			}
		}
	}
}
