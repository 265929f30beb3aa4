package slacktest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Limits of blocks: https://docs.slack.dev/reference/block-kit/blocks. The one
// of all together is not documented; Slack refuses from about there on.
const (
	maxBlocks  = 50
	maxAll     = 12_000
	maxHeader  = 150
	maxButtons = 25
	maxLabel   = 75
	maxValue   = 2000
	maxID      = 255
)

// text is a text object.
type text struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Emoji bool   `json:"emoji"`
}

// element is a part of a block: a button, a part of rich text, or a text in it.
type element struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Value    string         `json:"value"`
	URL      string         `json:"url"`
	ActionID string         `json:"action_id"`
	Style    jsontext.Value `json:"style"`
	Elements []element      `json:"elements"`
}

type block struct {
	Type     string    `json:"type"`
	Text     text      `json:"text"`
	Elements []element `json:"elements"`
}

func blocksOf(raw jsontext.Value) ([]block, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var out []block
	return out, json.Unmarshal(raw, &out)
}

// Check is how Slack would refuse blocks; "" if it would not.
func Check(raw jsontext.Value) string {
	blocks, err := blocksOf(raw)
	switch {
	case err != nil:
		return "invalid_blocks_format"
	case len(raw) > maxAll:
		return "msg_blocks_too_long"
	case len(blocks) > maxBlocks:
		return "invalid_blocks"
	}
	for _, b := range blocks {
		if !b.fine() {
			return "invalid_blocks"
		}
	}
	return ""
}

func (b *block) fine() bool {
	switch b.Type {
	case "header":
		return b.Text.Type == "plain_text" && between(b.Text.Text, 1, maxHeader)
	case "rich_text":
		return len(b.Elements) > 0 && all(b.Elements, richFine)
	case "actions":
		ids := make(map[string]bool)
		return between(strings.Repeat(".", len(b.Elements)), 1, maxButtons) && all(b.Elements, func(e *element) bool {
			again := ids[e.ActionID]
			ids[e.ActionID] = true
			return !again && buttonFine(e)
		})
	}
	return false
}

func richFine(e *element) bool {
	known := e.Type == "rich_text_section" || e.Type == "rich_text_preformatted"
	return known && len(e.Elements) > 0 && all(e.Elements, func(t *element) bool { return t.Type != "text" || t.words() != "" })
}

func buttonFine(e *element) bool {
	var label text
	err := json.Unmarshal(e.Text, &label)
	return err == nil && e.Type == "button" && label.Type == "plain_text" && between(label.Text, 1, maxLabel) &&
		between(e.Value, 1, maxValue) && between(e.ActionID, 1, maxID)
}

func between(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	return least <= n && n <= most
}

func all(es []element, is func(*element) bool) bool {
	for i := range es {
		if !is(&es[i]) {
			return false
		}
	}
	return true
}

// words are the text of an element of rich text.
func (e *element) words() string {
	var s string
	if json.Unmarshal(e.Text, &s) != nil {
		return ""
	}
	return s
}

func (e *element) isCode() bool {
	var style struct {
		Code bool `json:"code"`
	}
	return json.Unmarshal(e.Style, &style) == nil && style.Code
}

// Read is what a person sees of blocks.
func Read(raw jsontext.Value) channeltest.Message {
	var out channeltest.Message
	blocks, err := blocksOf(raw)
	if err != nil {
		out.Active = []string{err.Error()}
	}
	for _, b := range blocks {
		switch b.Type {
		case "header":
			out.Text += b.Text.Text + "\n"
			if b.Text.Type != "plain_text" || b.Text.Emoji {
				out.Active = append(out.Active, b.Text.Text)
			}
		case "rich_text":
			readRich(&out, b.Elements)
		case "actions":
			readButtons(&out, b.Elements)
		default:
			out.Active = append(out.Active, b.Type)
		}
	}
	out.Text = strings.TrimSuffix(out.Text, "\n")
	return out
}

func readRich(out *channeltest.Message, parts []element) {
	for _, part := range parts {
		for _, e := range part.Elements {
			words := e.words()
			out.Text += words
			code := part.Type == "rich_text_preformatted" || e.isCode()
			if code {
				out.Mono = append(out.Mono, words)
			}
			if e.Type != "text" {
				out.Active = append(out.Active, e.Type)
			}
			if !code {
				out.Active = append(out.Active, found.FindAllString(words, -1)...)
			}
		}
		out.Text += "\n"
	}
}

func readButtons(out *channeltest.Message, buttons []element) {
	for _, e := range buttons {
		var label text
		if json.Unmarshal(e.Text, &label) == nil {
			out.Buttons = append(out.Buttons, channeltest.Button{Label: label.Text, Data: e.Value, URL: e.URL})
		}
	}
}

// found is what Slack might find by itself in text that is not code.
var found = regexp.MustCompile(`(?i)(https?://|www\.)\S*|\b[a-z0-9-]+\.(com|example|org|net)\b|[@#]\w+|:[a-z_]+:|<[^>]*>`)

// Seen is a message as a person sees it.
func (m *Message) Seen() channeltest.Message {
	out := Read(m.Blocks)
	out.ID, out.ReplyTo, out.Only = m.TS, m.ReplyTo, m.Only
	if m.File != nil {
		out.Files = []channeltest.File{*m.File}
		return out
	}
	out.Active = append(append(out.Active, m.Lively...), found.FindAllString(m.Text, -1)...)
	return out
}
