package telegramtest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Limits of the Bot API: https://core.telegram.org/bots/api
const (
	maxText     = 4096
	maxCaption  = 1024
	maxData     = 64
	maxEntities = 100
	maxAlert    = 200
)

// form is what a call brings along.
type form struct {
	values map[string][]string
	file   *channeltest.File
}

func readForm(r *http.Request) *form {
	f := &form{values: map[string][]string{}}
	if err := r.ParseMultipartForm(32 << 20); err != nil || r.MultipartForm == nil {
		return f
	}
	f.values = r.MultipartForm.Value
	for _, headers := range r.MultipartForm.File {
		file, err := headers[0].Open()
		if err != nil {
			continue
		}
		text, err := io.ReadAll(file)
		if err != nil {
			continue
		}
		f.file = &channeltest.File{Name: headers[0].Filename, Text: string(text)}
	}
	return f
}

func (f *form) text(name string) string {
	if v := f.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (f *form) number(name string) int64 {
	n, _ := strconv.ParseInt(f.text(name), 10, 64)
	return n
}

// json reads a member that is JSON; nothing of it is nothing.
func (f *form) json(name string, into any) *refusal {
	text := f.text(name)
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return bad("can't parse " + name)
	}
	return nil
}

func bad(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, text: "Bad Request: " + text}
}

// message reads and checks what sendMessage, sendDocument and edits have in
// common.
func (f *form) message(textName, entitiesName string, most int) (*Message, *refusal) {
	m := &Message{Chat: f.number("chat_id"), Thread: f.number("message_thread_id"), Text: f.text(textName), Preview: true}
	var markup struct {
		Keyboard [][]Button `json:"inline_keyboard"`
	}
	var reply struct {
		ID int64 `json:"message_id"`
	}
	var preview struct {
		Off bool `json:"is_disabled"`
	}
	for name, into := range map[string]any{entitiesName: &m.Entities, "reply_markup": &markup, "reply_parameters": &reply, "link_preview_options": &preview} {
		if err := f.json(name, into); err != nil {
			return nil, err
		}
	}
	if f.text("parse_mode") != "" {
		return nil, bad("this fake knows no parse mode")
	}
	m.Buttons, m.ReplyTo, m.Preview = markup.Keyboard, reply.ID, !preview.Off
	return m, m.check(most)
}

func (m *Message) check(most int) *refusal {
	units := utf16.Encode([]rune(m.Text))
	switch {
	case len(units) > most:
		return bad("message is too long")
	case len(m.Entities) > maxEntities:
		return bad("too many entities")
	}
	for _, e := range m.Entities {
		end := e.Offset + e.Length
		if e.Offset < 0 || e.Length <= 0 || end > len(units) || splits(units, e.Offset) || splits(units, end) {
			return bad(fmt.Sprintf("entity %+v is out of the text", e))
		}
	}
	for _, row := range m.Buttons {
		for _, b := range row {
			if u, err := url.Parse(b.URL); b.URL != "" && (err != nil || !strings.Contains(u.Hostname(), ".")) {
				return bad("BUTTON_URL_INVALID")
			}
			if (len(b.Data) == 0) != (b.URL != "") || len(b.Data) > maxData || b.Text == "" {
				return bad("BUTTON_DATA_INVALID")
			}
		}
	}
	return nil
}

// splits reports an offset in the middle of a character.
func splits(units []uint16, at int) bool {
	return at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xDC00
}

func (s *Server) getMe(*form) (any, *refusal) {
	return map[string]any{"id": s.BotID(), "is_bot": true, "first_name": "Verifier", "username": "verifier_test_bot"}, nil
}

func (*Server) getChat(f *form) (any, *refusal) {
	if f.number("chat_id") == 0 || f.number("chat_id") == 1 {
		return nil, bad("chat not found")
	}
	return chatOf(f.number("chat_id")), nil
}

func (s *Server) sendMessage(f *form) (any, *refusal) {
	m, err := f.message("text", "entities", maxText)
	if err == nil && strings.TrimSpace(m.Text) == "" {
		err = bad("message text is empty")
	}
	return s.add(m, err)
}

func (s *Server) sendDocument(f *form) (any, *refusal) {
	m, err := f.message("caption", "caption_entities", maxCaption)
	if err == nil && f.file == nil {
		err = bad("there is no document in the request")
	}
	if err == nil {
		m.File = f.file
	}
	return s.add(m, err)
}

func (s *Server) add(m *Message, err *refusal) (any, *refusal) {
	if err == nil && m.Chat == 0 {
		err = bad("chat not found")
	}
	if err != nil {
		return nil, err
	}
	s.Lock()
	defer s.Unlock()
	s.nextID++
	m.ID = s.nextID
	s.messages = append(s.messages, m)
	s.Change()
	return s.show(m), nil
}

// edit finds the message that a call is about and changes it.
func (s *Server) edit(f *form, change func(m *Message) *refusal) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	for _, m := range s.messages {
		if m.Chat == f.number("chat_id") && m.ID == f.number("message_id") {
			before := fmt.Sprintf("%+v", *m)
			if err := change(m); err != nil {
				return nil, err
			}
			if fmt.Sprintf("%+v", *m) == before {
				return nil, bad("message is not modified")
			}
			s.Change()
			return s.show(m), nil
		}
	}
	return nil, bad("message to edit not found")
}

func (s *Server) editMessageText(f *form) (any, *refusal) {
	next, err := f.message("text", "entities", maxText)
	if err != nil {
		return nil, err
	}
	return s.edit(f, func(m *Message) *refusal {
		if m.File != nil {
			return bad("there is no text in the message to edit")
		}
		m.Text, m.Entities, m.Buttons, m.Preview = next.Text, next.Entities, next.Buttons, next.Preview
		return nil
	})
}

func (s *Server) editMessageReplyMarkup(f *form) (any, *refusal) {
	next, err := f.message("", "", maxText)
	if err != nil {
		return nil, err
	}
	return s.edit(f, func(m *Message) *refusal {
		m.Buttons = next.Buttons
		return nil
	})
}

func (s *Server) deleteMessage(f *form) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	for i, m := range s.messages {
		if m.Chat == f.number("chat_id") && m.ID == f.number("message_id") {
			s.messages = append(s.messages[:i:i], s.messages[i+1:]...)
			s.Change()
			return true, nil
		}
	}
	return nil, bad("message to delete not found")
}

func (s *Server) answerCallbackQuery(f *form) (any, *refusal) {
	s.Lock()
	defer s.Unlock()
	q := s.queries[f.text("callback_query_id")]
	if q == nil || q.answered {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	if len([]rune(f.text("text"))) > maxAlert {
		return nil, bad("MESSAGE_TOO_LONG")
	}
	q.answered, q.text, q.alert = true, f.text("text"), f.text("show_alert") == "true"
	s.Change()
	return true, nil
}

// show is a message as the API describes it. The lock is held.
func (s *Server) show(m *Message) map[string]any {
	out := map[string]any{
		"message_id": m.ID, "date": 1_700_000_000, "chat": chatOf(m.Chat), "text": m.Text,
		"from": map[string]any{"id": s.BotID(), "is_bot": true, "first_name": "Verifier"},
	}
	if m.File != nil {
		delete(out, "text")
		out["caption"], out["document"] = m.Text, map[string]any{"file_id": "f", "file_unique_id": "f", "file_name": m.File.Name}
	}
	if m.Thread != 0 { // what answers nothing in a topic answers the message that began it
		out["message_thread_id"], out["is_topic_message"] = m.Thread, true
		out["reply_to_message"] = map[string]any{
			"message_id": m.Thread, "date": 1_700_000_000, "chat": chatOf(m.Chat), "from": out["from"],
			"forum_topic_created": map[string]any{"name": "approvals", "icon_color": 7322096},
		}
	}
	if m.ReplyTo != 0 {
		out["reply_to_message"] = map[string]any{"message_id": m.ReplyTo, "date": 1_700_000_000, "chat": chatOf(m.Chat)}
	}
	return out
}

func chatOf(id int64) map[string]any {
	kind := "private"
	if id < 0 {
		kind = "supergroup"
	}
	return map[string]any{"id": id, "type": kind}
}
