package slacktest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// call is what a method is given: a form, or JSON.
type call struct {
	token string
	form  url.Values
	body  jsontext.Value
}

func readCall(r *http.Request) (*call, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c := &call{token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		c.body = body
		return c, nil
	}
	c.form, err = url.ParseQuery(string(body))
	if c.token == "" {
		c.token = c.form.Get("token")
	}
	return c, err
}

// usersInfo tells what a person is called.
func (s *Server) usersInfo(c *call) answer {
	s.Lock()
	defer s.Unlock()
	id := c.form.Get("user")
	switch name := s.Names[id]; {
	case s.Names == nil:
		return bad("missing_scope")
	case name == "":
		return bad("user_not_found")
	default:
		return answer{"ok": true, "user": map[string]any{"id": id, "name": strings.ToLower(name), "real_name": name, "profile": map[string]any{"display_name": ""}}}
	}
}

func (s *Server) authTest(*call) answer {
	s.Lock()
	defer s.Unlock()
	return answer{
		"ok": true, "url": "https://example.slack.com/", "team": "Example", "user": "verifier", "team_id": Team, "user_id": BotUser,
		"bot_id": BotID, "enterprise_id": s.Enterprise,
	}
}

// message reads what a call wants to write, and refuses what Slack would.
func (c *call) message() (*Message, string) {
	m := &Message{
		Channel: c.form.Get("channel"), Thread: c.form.Get("thread_ts"), Text: c.form.Get("text"), Blocks: jsontext.Value(c.form.Get("blocks")),
		Lively: lively(c.form),
	}
	if strings.HasPrefix(m.Channel, "U") || strings.HasPrefix(m.Channel, "W") {
		m.Channel = DirectWith(m.Channel)
	}
	if m.Channel != Channel && !strings.HasPrefix(m.Channel, "D") {
		return nil, "channel_not_found"
	}
	if m.Text == "" && len(m.Blocks) == 0 {
		return nil, "no_text"
	}
	return m, Check(m.Blocks)
}

// lively are the options that would let Slack look for links, names and
// formatting.
func lively(form url.Values) []string {
	var out []string
	for _, off := range []string{"unfurl_links", "unfurl_media", "mrkdwn", "link_names"} {
		if form.Get(off) != "false" {
			out = append(out, off)
		}
	}
	if form.Get("parse") != "none" {
		out = append(out, "parse")
	}
	return out
}

func (s *Server) postMessage(c *call) answer {
	m, refusal := c.message()
	if refusal != "" {
		return bad(refusal)
	}
	s.Lock()
	defer s.Unlock()
	m.TS = s.ts()
	if strings.HasPrefix(m.Channel, "D") && len(Read(m.Blocks).Buttons) == 0 {
		m.ReplyTo = s.lastLine(func(l line) bool { return l.channel == m.Channel && l.thread == m.Thread })
	}
	s.messages = append(s.messages, m)
	s.Change()
	return answer{"ok": true, "channel": m.Channel, "ts": m.TS, "message": map[string]any{"text": m.Text}}
}

func (s *Server) postEphemeral(c *call) answer {
	m, refusal := c.message()
	if refusal != "" {
		return bad(refusal)
	}
	s.Lock()
	defer s.Unlock()
	m.TS, m.Only = s.ts(), c.form.Get("user")
	if m.Thread != "" {
		m.ReplyTo = s.lastLine(func(l line) bool { return l.channel == m.Channel && l.thread == m.Thread && l.user == m.Only })
	}
	s.messages = append(s.messages, m)
	s.Change()
	return answer{"ok": true, "message_ts": m.TS}
}

// lastLine is what a person reads an answer as an answer to: Slack has replies
// to threads, not to lines. The lock is held.
func (s *Server) lastLine(is func(line) bool) string {
	for _, l := range slices.Backward(s.lines) {
		if is(l) {
			return l.id
		}
	}
	return ""
}

func (s *Server) update(c *call) answer {
	next, refusal := c.message()
	if refusal != "" {
		return bad(refusal)
	}
	s.Lock()
	defer s.Unlock()
	for _, m := range s.messages {
		if m.Channel == c.form.Get("channel") && m.TS == c.form.Get("ts") && m.Only == "" {
			if m.File != nil {
				return bad("cant_update_message")
			}
			m.Text, m.Blocks, m.Lively = next.Text, next.Blocks, next.Lively
			s.Change()
			return answer{"ok": true, "channel": m.Channel, "ts": m.TS, "text": m.Text}
		}
	}
	return bad("message_not_found")
}

func (s *Server) getUploadURL(c *call) answer {
	name := c.form.Get("filename")
	if name == "" || c.form.Get("length") == "" || c.form.Get("length") == "0" {
		return bad("invalid_arguments")
	}
	s.Lock()
	defer s.Unlock()
	id := s.id("F")
	s.uploads[id] = &channeltest.File{Name: name}
	return answer{"ok": true, "file_id": id, "upload_url": s.http.URL + "/upload/" + id}
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, err := io.ReadAll(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Lock()
	defer s.Unlock()
	f := s.uploads[strings.TrimPrefix(r.URL.Path, "/upload/")]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	f.Text = string(text)
}

func (s *Server) completeUpload(c *call) answer {
	var files []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(c.form.Get("files")), &files) != nil || len(files) != 1 {
		return bad("invalid_arguments")
	}
	s.Lock()
	defer s.Unlock()
	f, to := s.uploads[files[0].ID], c.form.Get("channel_id")
	if f == nil || f.Text == "" {
		return bad("file_not_found")
	}
	if to != Channel && !strings.HasPrefix(to, "D") {
		return bad("channel_not_found")
	}
	s.messages = append(s.messages, &Message{Channel: to, TS: s.ts(), Thread: c.form.Get("thread_ts"), File: f})
	s.Change()
	return answer{"ok": true, "files": []map[string]any{{"id": files[0].ID}}}
}
