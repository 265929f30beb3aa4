package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/slack-go/slack"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestGolden(t *testing.T) {
	channeltest.Golden(t, func(t *testing.T, f channeltest.Fixture) string {
		t.Helper()
		if f.Details {
			d, fits := draw(channels.Details(f.Card, channeltest.Now))
			if !fits {
				t.Error("the details have no room")
			}
			return sketch(t, d)
		}
		d := channels.Show(f.Card, f.Outcome, channeltest.Now, draw)
		if !d.fits() {
			t.Error("it has no room")
		}
		return sketch(t, d)
	})
}

// wire is what is sent. The cards of the golden files have no handles, which
// Slack would refuse.
func wire(t testing.TB, d *drawing) jsontext.Value {
	t.Helper()
	for _, b := range d.blocks {
		if a, ok := b.(*slack.ActionBlock); ok {
			for _, e := range a.Elements.ElementSet {
				if e, ok := e.(*slack.ButtonBlockElement); ok && e.Value == "" {
					e.Value = "handle"
				}
			}
		}
	}
	raw, err := json.Marshal(d.blocks)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sketch draws a message so that its styles can be seen: **bold**,
// `code`, and preformatted text behind a bar.
func sketch(t *testing.T, d *drawing) string {
	t.Helper()
	if why := slacktest.Check(wire(t, d)); why != "" {
		t.Errorf("Slack would say %s", why)
	}
	var b strings.Builder
	for i, block := range d.blocks {
		if i > 0 {
			b.WriteString("\n")
		}
		switch block := block.(type) {
		case *slack.RichTextBlock:
			sketchRich(&b, block)
		case *slack.ActionBlock:
			for _, e := range block.Elements.ElementSet {
				if e, ok := e.(*slack.ButtonBlockElement); ok {
					fmt.Fprintf(&b, "[%s %s]", e.Text.Text, e.Style)
				}
			}
			b.WriteString("\n")
		default:
			t.Errorf("a block that no card has: %T", block)
		}
	}
	return strings.ReplaceAll(b.String(), " ]", "]")
}

func sketchRich(b *strings.Builder, block *slack.RichTextBlock) {
	for _, part := range block.Elements {
		switch part := part.(type) {
		case *slack.RichTextPreformatted:
			for _, e := range part.Elements {
				if e, ok := e.(*slack.RichTextSectionTextElement); ok {
					b.WriteString("│ " + strings.ReplaceAll(e.Text, "\n", "\n│ ") + "\n")
				}
			}
		case *slack.RichTextSection:
			for _, e := range part.Elements {
				if e, ok := e.(*slack.RichTextSectionTextElement); ok {
					b.WriteString(styledSketch(e))
				}
			}
			b.WriteString("\n")
		}
	}
}

func styledSketch(e *slack.RichTextSectionTextElement) string {
	switch {
	case e.Style != nil && e.Style.Bold:
		return "**" + e.Text + "**"
	case e.Style != nil && e.Style.Code:
		return "`" + e.Text + "`"
	}
	return e.Text
}

// A foreign text stands in a card as it is, and nothing of it is anything else
// than text.
func FuzzForeignTextIsLiteral(f *testing.F) {
	for _, s := range []string{"", " ", "a", "```\n", "<!channel> <@U1> <https://evil.example|safe>", "&lt;b&gt; :smile: *b* _i_ ~s~", "\U0001F600", " padded ", "\n", "a\n\nb", "\xff", `{"type":"link"}`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		one, _ = channels.Safe(one, channels.Form{Lines: true, Limit: 500})
		two, _ = channels.Safe(two, channels.Form{Limit: 500})
		d, fits := draw(&channels.Document{Title: "T", Blocks: []channels.Block{
			{Kind: channels.Field, Label: "F", Text: one}, {Kind: channels.Quote, Label: "Q", Text: two},
			{Kind: channels.Note, Label: "N", Text: one}, {Kind: channels.Warning, Label: "W", Text: two}, {Kind: channels.Note, Text: two},
		}})
		if !fits {
			return
		}
		raw := wire(t, d)
		if why := slacktest.Check(raw); why != "" {
			t.Fatalf("Slack would say %s to %s", why, raw)
		}
		seen := slacktest.Read(raw)
		if len(seen.Active) > 0 {
			t.Fatalf("%q in %s", seen.Active, raw)
		}
		for _, foreign := range []string{one, two} {
			if !strings.Contains(seen.Text, foreign) {
				t.Fatalf("not literally there: %q in %q", foreign, seen.Text)
			}
		}
		if strings.Count(string(raw), `"type":"text"`) != strings.Count(string(raw), `"text":"`) {
			t.Fatalf("something else than text: %s", raw)
		}
	})
}

// A message that Slack would refuse is not called fitting.
func TestLimits(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	quotes := func(n, each int) (out []channels.Block) {
		for range n {
			out = append(out, channels.Block{Kind: channels.Quote, Label: "q", Text: long(each), Gap: true})
		}
		return out
	}
	notes := func(n int) (out []channels.Block) {
		for range n {
			out = append(out, channels.Block{Kind: channels.Note, Label: "n", Gap: true})
		}
		return out
	}
	buttons := func(n int, b channels.Button) (out []channels.Button) {
		for i := range n {
			b.Action = approval.Action('A' + i)
			out = append(out, b)
		}
		return out
	}
	ok := channels.Button{Label: "l", Handle: "h"}
	for name, c := range map[string]struct {
		doc  channels.Document
		fits bool
	}{
		"a block with all it may have":  {channels.Document{Title: "T", Blocks: quotes(1, maxBlockText-1)}, true},
		"a block with one more":         {channels.Document{Title: "T", Blocks: quotes(1, maxBlockText)}, false},
		"as many blocks as there may":   {channels.Document{Title: "T", Blocks: notes(maxBlocks - 1)}, true},
		"one more block":                {channels.Document{Title: "T", Blocks: notes(maxBlocks)}, false},
		"blocks that are long together": {channels.Document{Title: "T", Blocks: quotes(4, 2600)}, false},
		"a long title":                  {channels.Document{Title: long(maxBlockText + 1)}, false},
		"as many buttons as there may":  {channels.Document{Title: "T", Buttons: buttons(maxButtons, ok)}, true},
		"one more button":               {channels.Document{Title: "T", Buttons: buttons(maxButtons+1, ok)}, false},
		"a long label":                  {channels.Document{Title: "T", Buttons: buttons(1, channels.Button{Label: long(maxLabel + 1), Handle: "h"})}, false},
		"a long value":                  {channels.Document{Title: "T", Buttons: buttons(1, channels.Button{Label: "l", Handle: long(maxValue + 1)})}, false},
	} {
		d, fits := draw(&c.doc)
		if fits != c.fits {
			t.Errorf("%s: fits is %v", name, fits)
		}
		if why := slacktest.Check(wire(t, d)); fits && why != "" {
			t.Errorf("%s: Slack would say %s", name, why)
		}
	}
	if d := said(long(3 * maxBlockText)); !d.fits() {
		t.Error("a long answer has no room")
	}
}

// What Slack makes of a line is undone.
func FuzzTypedText(f *testing.F) {
	for _, s := range []string{".approve exec bf619df9 30", "`.deny bf619df9`", "a < b & c > d", "&lt;", "<", "```\n.help\n```", "<a|b>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "`"))
		if got := typedText(slacktest.Escape(s)); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
		typedText(s) // whatever it is
	})
}

func TestTypedLinksAreWhatWasTyped(t *testing.T) {
	for in, want := range map[string]string{
		".deny bf619df9 see <https://a.example/x>":                ".deny bf619df9 see https://a.example/x",
		".approve <http://tool.example|tool.example> bf619df9":    ".approve tool.example bf619df9",
		".deny bf619df9 ask <@U024BE7LH>":                         ".deny bf619df9 ask @U024BE7LH",
		".deny bf619df9 ask <@U024BE7LH|ann> in <#C1|general>":    ".deny bf619df9 ask @ann in #general",
		".deny bf619df9 <!here> <mailto:a@b.example|a@b.example>": ".deny bf619df9 !here a@b.example",
		"&gt; .approve exec bf619df9":                             "> .approve exec bf619df9",
		".approve exec bf619df9 <":                                ".approve exec bf619df9 <",
	} {
		if got := typedText(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
