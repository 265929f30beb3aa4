package slack_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

// ServeHTTP is the proxy: the Web API is emulate's, Socket Mode slacktest's.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	to, connects := s.emulate+r.URL.Path, name == "apps.connections.open"
	if connects {
		to = s.socket.GetAPIURL() + name
	}
	sends := strings.HasPrefix(name, "chat.") || strings.HasPrefix(name, "files.")
	if sends && s.Meet(w, r, func(w http.ResponseWriter, _ channeltest.Fault) {
		io.WriteString(w, `{"ok":false,"error":"not_in_channel"}`) //nolint:errcheck // whoever does not read it has gone
	}) {
		return
	}
	if _, boundary, multipart := strings.Cut(r.Header.Get("Content-Type"), "boundary="); multipart { // slack-go writes its end twice
		end := "\r\n--" + boundary + "--\r\n"
		file, _, _ := bytes.Cut(body, []byte(end))
		body = append(file, end...)
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	req.Header, req.Close = r.Header.Clone(), true
	form, err := url.ParseQuery(string(body))
	if token := form.Get("token"); err == nil && token != "" { // emulate reads it in the header only
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if sends {
		s.note(name, form, answer)
		s.Wait(r)
	}
	w.WriteHeader(res.StatusCode)
	w.Write(answer) //nolint:errcheck // whoever does not read it has gone
}

// note keeps what emulate took and can't be asked for.
func (s *standIn) note(name string, form url.Values, answer jsontext.Value) {
	var said struct {
		OK bool   `json:"ok"`
		TS string `json:"message_ts"`
	}
	if json.Unmarshal(answer, &said) != nil || !said.OK {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "chat.postEphemeral" {
		m := slacktest.Message{
			Channel: form.Get("channel"), TS: said.TS, Thread: form.Get("thread_ts"), Only: form.Get("user"), Text: form.Get("text"), Blocks: jsontext.Value(form.Get("blocks")),
		}
		for _, l := range slices.Backward(s.lines) {
			if m.Thread != "" && l.user == m.Only && l.channel == m.Channel && l.thread == m.Thread {
				m.ReplyTo = l.id
				break
			}
		}
		s.private = append(s.private, m)
	}
	s.change()
}

// change says that something is different now. The lock is held.
func (s *standIn) change() {
	s.stale = true
	close(s.changed)
	s.changed = make(chan struct{})
}

// stored is a message as emulate tells it.
type stored struct {
	TS          string         `json:"ts"`
	User        string         `json:"user"`
	Text        string         `json:"text"`
	Thread      string         `json:"thread_ts"`
	Blocks      jsontext.Value `json:"blocks"`
	Replies     int            `json:"reply_count"`
	UnfurlLinks *bool          `json:"unfurl_links"`
	UnfurlMedia *bool          `json:"unfurl_media"`
	Markdown    *bool          `json:"mrkdwn"`
	LinkNames   *bool          `json:"link_names"`
	Parse       string         `json:"parse"`
	Files       []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		URL  string `json:"url_private"`
	} `json:"files"`
}

// history is what stands in a conversation, threads included, oldest first.
func (s *standIn) history(ctx context.Context, token, channel string) ([]stored, error) {
	read := func(method, ts string) (out struct {
		Messages []stored `json:"messages"`
	}, err error) {
		body, err := s.fetch(ctx, token, http.MethodPost, "/api/"+method, url.Values{"channel": {channel}, "ts": {ts}, "limit": {"1000"}})
		if err == nil {
			err = json.Unmarshal(body, &out)
		}
		return out, err
	}
	top, err := read("conversations.history", "")
	out := top.Messages
	for _, m := range top.Messages {
		if m.Replies == 0 {
			continue
		}
		thread, err := read("conversations.replies", m.TS)
		if err != nil {
			return nil, err
		}
		for _, reply := range thread.Messages {
			if reply.TS != m.TS {
				out = append(out, reply)
			}
		}
	}
	slices.SortFunc(out, func(a, b stored) int { return strings.Compare(a.TS, b.TS) })
	return out, err
}

// Messages implements channeltest.Platform.
func (s *standIn) Messages() []channeltest.Message {
	var out []channeltest.Message
	all := s.all(context.Background())
	for _, m := range all {
		seen := m.Seen()
		for _, f := range all {
			if f.File != nil && m.File == nil && m.Thread == f.Thread && strings.Contains(seen.Text, "in the file "+f.File.Name) {
				seen.Files = append(seen.Files, *f.File)
			}
		}
		out = append(out, seen)
	}
	return out
}

// all are the app's messages. They are asked for again only after a change.
func (s *standIn) all(ctx context.Context) []slacktest.Message {
	s.mu.Lock()
	stale := s.stale
	s.stale = false
	tokens := map[string]string{s.chat: tokenOf(admin)}
	for who, channel := range s.direct {
		tokens[channel] = tokenOf(who)
	}
	private := slices.Clone(s.private)
	if !stale {
		defer s.mu.Unlock()
		return append(slices.Clone(s.shown), private...)
	}
	s.mu.Unlock()
	var shown []slacktest.Message
	for channel, token := range tokens {
		history, err := s.history(ctx, token, channel)
		if err != nil {
			panic(err)
		}
		line := ""
		for _, m := range history {
			if m.User != slacktest.BotUser {
				line = m.TS
				continue
			}
			shown = append(shown, s.message(ctx, channel, line, m))
		}
	}
	slices.SortFunc(shown, func(a, b slacktest.Message) int { return strings.Compare(a.TS, b.TS) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = shown
	return append(slices.Clone(shown), private...)
}

func (s *standIn) message(ctx context.Context, channel, line string, m stored) slacktest.Message {
	out := slacktest.Message{Channel: channel, TS: m.TS, Thread: m.Thread, Text: m.Text, Blocks: m.Blocks}
	for name, on := range map[string]*bool{"unfurl_links": m.UnfurlLinks, "unfurl_media": m.UnfurlMedia, "mrkdwn": m.Markdown, "link_names": m.LinkNames} {
		if on == nil || *on {
			out.Lively = append(out.Lively, name)
		}
	}
	if m.Parse != "none" {
		out.Lively = append(out.Lively, "parse")
	}
	if channel != s.chat {
		out.ReplyTo = line
	}
	for _, f := range m.Files {
		out.File = &channeltest.File{Name: f.Name, Text: s.file(ctx, f.ID, f.URL)}
	}
	return out
}

// file is what stands in a file.
func (s *standIn) file(ctx context.Context, id, at string) string {
	s.mu.Lock()
	text, known := s.files[id]
	s.mu.Unlock()
	if known {
		return text
	}
	body, err := s.fetch(ctx, tokenOf(admin), http.MethodGet, strings.TrimPrefix(at, s.proxy.URL), nil)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[id] = string(body)
	return string(body)
}
