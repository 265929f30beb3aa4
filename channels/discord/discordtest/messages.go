package discordtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Limits of messages and forms:
// https://discord.com/developers/docs/resources/message#create-message and
// https://discord.com/developers/docs/components/reference
const (
	maxContent     = 2000
	maxRows        = 5
	maxInRow       = 5
	maxLabel       = 80
	maxCustomID    = 100
	maxURL         = 512
	maxNonce       = 25
	maxTitle       = 45
	maxInputLabel  = 45
	maxPlaceholder = 100
	maxInput       = 4000
)

// Flags of a message.
const (
	SuppressEmbeds = 1 << 2
	Ephemeral      = 1 << 6
)

// Message is what the bot has written.
type Message struct {
	Channel, ID string
	Content     string
	Flags       int
	Rows        [][]Button
	Files       []channeltest.File
	ReplyTo     string
	Quiet       bool   // it mentions no one, whatever it says
	Only        string // the user who alone sees it
	Embeds      int
	nonce       string
}

// Button is a button of a message.
type Button struct {
	Label, CustomID string
	Style           int
	URL             string // of one that opens a page
}

// component is any part of a message or a form.
type component struct {
	Type        int         `json:"type"`
	Components  []component `json:"components"`
	Component   *component  `json:"component"`
	Label       string      `json:"label"`
	Style       int         `json:"style"`
	CustomID    string      `json:"custom_id"`
	URL         string      `json:"url"`
	Placeholder string      `json:"placeholder"`
	MaxLength   int         `json:"max_length"`
}

// body is a message as the API takes it.
type body struct {
	Content    *string     `json:"content"`
	Flags      int         `json:"flags"`
	Components []component `json:"components"`
	Embeds     []any       `json:"embeds"`
	Mentions   *struct {
		Parse       *[]string `json:"parse"`
		Users       []string  `json:"users"`
		Roles       []string  `json:"roles"`
		RepliedUser bool      `json:"replied_user"`
	} `json:"allowed_mentions"`
	Reference *struct {
		ID   string `json:"message_id"`
		Must *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Nonce       string `json:"nonce"`
	Enforce     bool   `json:"enforce_nonce"`
	Attachments *[]any `json:"attachments"`
	CustomID    string `json:"custom_id"` // of a form
	Title       string `json:"title"`

	files []channeltest.File
}

// read takes JSON, or JSON with files beside it.
func read(r *http.Request, into any) ([]channeltest.File, *refusal) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		if json.UnmarshalRead(r.Body, into) != nil {
			return nil, invalid("no JSON")
		}
		return nil, nil
	}
	if r.ParseMultipartForm(32<<20) != nil || json.Unmarshal([]byte(r.FormValue("payload_json")), into) != nil {
		return nil, invalid("no payload_json")
	}
	var files []channeltest.File
	for name, headers := range r.MultipartForm.File {
		file, err := headers[0].Open()
		if err != nil {
			return nil, invalid(name)
		}
		text, err := io.ReadAll(file)
		if err != nil {
			return nil, invalid(name)
		}
		files = append(files, channeltest.File{Name: headers[0].Filename, Text: string(text)})
	}
	return files, nil
}

// fill puts a body into a message, as far as it says something.
func (m *Message) fill(b *body) *refusal {
	if b.Content != nil {
		m.Content = *b.Content
		m.Quiet = b.Mentions != nil && b.Mentions.Parse != nil && len(*b.Mentions.Parse)+len(b.Mentions.Users)+len(b.Mentions.Roles) == 0 && !b.Mentions.RepliedUser
	}
	if b.Components != nil {
		var err *refusal
		if m.Rows, err = rows(b.Components); err != nil {
			return err
		}
	}
	if b.Attachments != nil {
		m.Files = nil
	}
	m.Flags |= b.Flags
	m.Files, m.Embeds = append(m.Files, b.files...), len(b.Embeds)
	switch {
	case utf8.RuneCountInString(m.Content) > maxContent:
		return invalid("content: Must be 2000 or fewer in length.")
	case strings.TrimSpace(m.Content) == "" && len(m.Files) == 0:
		return &refusal{http.StatusBadRequest, 50006, "Cannot send an empty message"}
	}
	return nil
}

// isLink reports whether a component is a button that opens a page: style 5, with an address and no id.
func (c *component) isLink() bool {
	web := strings.HasPrefix(c.URL, "https://") || strings.HasPrefix(c.URL, "http://")
	return c.Type == 2 && c.Style == 5 && within(c.Label, maxLabel) && c.CustomID == "" && web && len(c.URL) <= maxURL
}

func rows(components []component) (out [][]Button, err *refusal) {
	ids := map[string]bool{}
	if len(components) > maxRows {
		return nil, invalid("components: too many rows")
	}
	for _, row := range components {
		if row.Type != 1 || len(row.Components) == 0 || len(row.Components) > maxInRow {
			return nil, invalid(fmt.Sprintf("components: %+v is no row", row))
		}
		var buttons []Button
		for _, c := range row.Components {
			if c.isLink() {
				buttons = append(buttons, Button{Label: c.Label, Style: c.Style, URL: c.URL})
				continue
			}
			if c.Type != 2 || c.Style < 1 || c.Style > 4 || !within(c.Label, maxLabel) || !within(c.CustomID, maxCustomID) || ids[c.CustomID] || c.URL != "" {
				return nil, invalid(fmt.Sprintf("components: %+v is no button", c))
			}
			ids[c.CustomID] = true
			buttons = append(buttons, Button{Label: c.Label, CustomID: c.CustomID, Style: c.Style})
		}
		out = append(out, buttons)
	}
	return out, nil
}

func within(s string, most int) bool { return s != "" && utf8.RuneCountInString(s) <= most }

func (s *Server) createMessage(r *http.Request) (any, *refusal) {
	var b body
	var err *refusal
	if b.files, err = read(r, &b); err != nil {
		return nil, err
	}
	m := &Message{Channel: r.PathValue("channel")}
	if err := m.fill(&b); err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	if len(b.Nonce) > maxNonce {
		return nil, invalid("nonce: too long")
	}
	for _, other := range s.messages {
		if b.Enforce && b.Nonce != "" && other.nonce == b.Nonce {
			return s.show(other), nil
		}
	}
	if b.Reference != nil {
		m.ReplyTo = b.Reference.ID
	}
	m.nonce, m.ID = b.Nonce, s.id()
	s.messages = append(s.messages, m)
	s.Change()
	return s.show(m), nil
}

// find gives a message; nil if there is none. The lock is held.
func (s *Server) find(channel, id string) *Message {
	for _, m := range s.messages {
		if m.Channel == channel && m.ID == id {
			return m
		}
	}
	return nil
}

func (s *Server) editMessage(r *http.Request) (any, *refusal) {
	var b body
	var err *refusal
	if b.files, err = read(r, &b); err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	m := s.find(r.PathValue("channel"), r.PathValue("message"))
	if m == nil || m.Only != "" { // what one person sees can't be edited this way
		return nil, &refusal{http.StatusNotFound, 10008, "Unknown Message"}
	}
	next := *m
	if err := next.fill(&b); err != nil {
		return nil, err
	}
	*m = next
	s.Change()
	return s.show(m), nil
}

// Delete takes a message away, as a moderator would.
func (s *Server) Delete(id string) {
	s.Lock()
	defer s.Unlock()
	for i, m := range s.messages {
		if m.ID == id {
			s.messages = append(s.messages[:i:i], s.messages[i+1:]...)
			s.Change()
			return
		}
	}
}

func (s *Server) createDirect(r *http.Request) (any, *refusal) {
	var b struct {
		To string `json:"recipient_id"`
	}
	if _, err := read(r, &b); err != nil || b.To == "" {
		return nil, invalid("recipient_id")
	}
	return map[string]any{"id": DirectID(b.To), "type": 1}, nil
}

func (s *Server) channel(r *http.Request) (any, *refusal) {
	id := r.PathValue("channel")
	if id == NoChannel {
		return nil, &refusal{http.StatusNotFound, 10003, "Unknown Channel"}
	}
	return map[string]any{"id": id, "type": 0, "name": "approvals"}, nil
}

func (s *Server) me(*http.Request) (any, *refusal) { return botUser(), nil }

func botUser() map[string]any {
	return map[string]any{"id": BotID, "username": "verifier-test", "discriminator": "0", "bot": true}
}

func (s *Server) application(*http.Request) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	app := map[string]any{"id": BotID, "name": "Verifier Test", "interactions_endpoint_url": nil}
	if s.endpoint != "" {
		app["interactions_endpoint_url"] = s.endpoint
	}
	return app, nil
}

// show is a message as the API describes it. The lock is held.
func (s *Server) show(m *Message) map[string]any {
	out := map[string]any{
		"id": m.ID, "channel_id": m.Channel, "content": m.Content, "flags": m.Flags, "author": botUser(), "type": 0,
		"timestamp": "2026-03-14T22:12:05.000000+00:00", "attachments": []any{}, "embeds": []any{}, "mentions": []any{},
	}
	var components []map[string]any
	for _, row := range m.Rows {
		var buttons []map[string]any
		for _, b := range row {
			buttons = append(buttons, map[string]any{"type": 2, "label": b.Label, "custom_id": b.CustomID, "style": b.Style})
		}
		components = append(components, map[string]any{"type": 1, "components": buttons})
	}
	out["components"] = components
	return out
}
