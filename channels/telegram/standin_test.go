package telegram_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// The same suite against a Bot API that others wrote: telegram-test-api.
func TestStandIn(t *testing.T) {
	base := "http://127.0.0.1:" + channeltest.StartStandIn(t, "testdata/standin.mjs")
	channeltest.RunStandIn(t, telegram.Name, func(t *testing.T) channeltest.Platform { return newStandIn(t, base) })
}

// standIn is the suite's view of it. Between the channel and the server stands a
// proxy that supplies what the server lacks: it turns multipart into JSON, keeps
// a poll waiting, takes the buttons off with an edit that has none, and notes
// what is answered to a tap.
type standIn struct {
	channeltest.Faults
	base, token string
	proxy       *httptest.Server
	next        atomic.Int64
	reading     sync.Mutex // one at a time

	mu      sync.Mutex
	changed chan struct{}     // closed with the next thing that happens
	told    map[string]string // by callback query
	shown   []stored
	stale   bool
}

var standIns atomic.Int64

func newStandIn(t *testing.T, base string) *standIn {
	t.Helper()
	s := &standIn{base: base, told: make(map[string]string), changed: make(chan struct{}), stale: true}
	s.token = fmt.Sprintf("77%08d:AAH-planted_bot_token_that_must_not_show", standIns.Add(1))
	s.proxy = httptest.NewServer(s)
	t.Cleanup(func() {
		s.Break(channeltest.Fault{})
		s.proxy.CloseClientConnections()
		s.proxy.Close()
	})
	return s
}

// ServeHTTP is what the channel calls.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	form := url.Values{}
	if err := r.ParseMultipartForm(1 << 20); err == nil {
		form = r.MultipartForm.Value
	}
	if method == "getUpdates" {
		w.Write(s.poll(r.Context())) //nolint:errcheck // whoever does not read it has gone
		return
	}
	if s.Meet(w, r, failed) {
		return
	}
	answer := s.post(r.Context(), "/bot"+s.token+"/"+method, asJSON(method, form))
	s.happens(func() {
		if method == "answerCallbackQuery" {
			s.told[form.Get("callback_query_id")] = form.Get("text")
		}
	})
	s.Wait(r)
	w.Write(answer) //nolint:errcheck // whoever does not read it has gone
}

func failed(w http.ResponseWriter, _ channeltest.Fault) {
	w.WriteHeader(http.StatusForbidden)
	io.WriteString(w, `{"ok":false,"error_code":403,"description":"Forbidden"}`) //nolint:errcheck // whoever does not read it has gone
}

// asJSON is a form as the server can read it.
func asJSON(method string, form url.Values) map[string]any {
	body := make(map[string]any)
	for name := range form {
		body[name] = form.Get(name)
		switch name {
		case "reply_markup", "entities", "link_preview_options", "reply_parameters":
			body[name] = jsontext.Value(form.Get(name))
		}
	}
	if strings.HasPrefix(method, "edit") && !form.Has("reply_markup") {
		body["reply_markup"] = jsontext.Value(`{"inline_keyboard":[]}`)
	}
	return body
}

// poll asks for updates until something comes.
func (s *standIn) poll(ctx context.Context) []byte {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		updates := s.post(ctx, "/bot"+s.token+"/getUpdates", nil)
		if !bytes.Contains(updates, []byte(`"result":[]`)) {
			s.happens(func() {}) // they are read now
			return updates
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return updates
		}
	}
}

// post calls the server. Where it gives no answer, neither does the proxy.
func (s *standIn) post(ctx context.Context, path string, with map[string]any) []byte {
	text, err := json.Marshal(with)
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return answer
}

// happens notes that something is different now.
func (s *standIn) happens(note func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	note()
	s.stale = true
	close(s.changed)
	s.changed = make(chan struct{})
}

// stored is a message or a tap as the server keeps it.
type stored struct {
	ID      int64 `json:"messageId"`
	Read    bool  `json:"isRead"`
	Tap     int64 `json:"callbackId"`
	Message struct {
		Chat     any                   `json:"chat_id"`
		Text     string                `json:"text"`
		Entities []telegramtest.Entity `json:"entities"`
		Markup   struct {
			Keyboard [][]telegramtest.Button `json:"inline_keyboard"`
		} `json:"reply_markup"`
		Reply struct {
			ID int64 `json:"message_id"`
		} `json:"reply_parameters"`
		Preview struct {
			Off bool `json:"is_disabled"`
		} `json:"link_preview_options"`
		Mark string `json:"mark"`
	} `json:"message"`
	Query struct {
		Mark string `json:"mark"`
	} `json:"callbackQuery"`
}

// history is what the server keeps. It is asked again only after a change.
func (s *standIn) history() []stored {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	shown, stale := s.shown, s.stale
	s.stale = false
	s.mu.Unlock()
	if !stale {
		return shown
	}
	body := s.post(context.Background(), "/getUpdatesHistory", map[string]any{"token": s.token})
	var out struct {
		Result []stored `json:"result"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		panic(fmt.Sprintf("history: %v in %s", err, body))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = out.Result
	return out.Result
}

// Name implements channeltest.Platform.
func (*standIn) Name() string { return "telegram" }

// Secrets implements channeltest.Platform.
func (s *standIn) Secrets() []string { return []string{s.token} }

// People implements channeltest.Platform.
func (*standIn) People() channeltest.People { return (&platform{}).People() }

// Open implements channeltest.Platform.
func (s *standIn) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	return open(t, telegram.Config{BotToken: s.token, ChatID: delivery.ID(fmt.Sprint(group)), APIURL: s.proxy.URL}, d)
}

// Messages implements channeltest.Platform.
func (s *standIn) Messages() []channeltest.Message {
	var out []channeltest.Message
	for _, x := range s.history() {
		if x.Message.Chat == nil {
			continue // a person's
		}
		out = append(out, seen(telegramtest.Message{
			ID: x.ID, Text: x.Message.Text, Entities: x.Message.Entities, Buttons: x.Message.Markup.Keyboard,
			ReplyTo: x.Message.Reply.ID, Preview: !x.Message.Preview.Off,
		}))
	}
	return out
}

// act sends what a person does, and gives the id under which it is kept.
func (s *standIn) act(t testing.TB, path string, body map[string]any) stored {
	t.Helper()
	mark := fmt.Sprint("mark-", s.next.Add(1))
	body["botToken"], body["mark"] = s.token, mark
	s.post(t.Context(), path, body)
	s.happens(func() {})
	for _, x := range s.history() {
		if x.Message.Mark == mark || x.Query.Mark == mark {
			return x
		}
	}
	t.Fatalf("%s was not kept", path)
	return stored{}
}

func userOf(u channeltest.User) map[string]any {
	return map[string]any{"id": person(u).ID, "is_bot": u.Bot, "first_name": u.Name}
}

func chatOf(id int64) map[string]any {
	kind := "supergroup"
	if id > 0 {
		kind = "private"
	}
	return map[string]any{"id": id, "type": kind}
}

// said is a message of the bot as an update describes it.
func (s *standIn) said(t testing.TB, m channeltest.Message) map[string]any {
	bot, _, _ := strings.Cut(s.token, ":")
	out := map[string]any{
		"message_id": number(t, m.ID), "date": time.Now().Unix(), "chat": chatOf(group), "text": m.Text,
		"from": map[string]any{"id": number(t, bot), "is_bot": true, "first_name": "Verifier"},
	}
	if m.ReplyTo != "" {
		out["reply_to_message"] = map[string]any{"message_id": 1, "date": time.Now().Unix(), "chat": chatOf(group)}
	}
	return out
}

// Tap implements channeltest.Platform.
func (s *standIn) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	x := s.act(t, "/sendCallback", map[string]any{"from": userOf(who), "message": s.said(t, m), "data": b.Data})
	told, id := "", fmt.Sprint(x.Tap)
	s.until(t, "the tap is answered", func() bool {
		s.mu.Lock()
		text, answered := s.told[id]
		s.mu.Unlock()
		told = text
		return answered || who.Bot && s.isRead(x)
	})
	return told
}

func (s *standIn) isRead(x stored) bool {
	for _, y := range s.history() {
		if y.Tap == x.Tap && y.Query.Mark == x.Query.Mark {
			return y.Read
		}
	}
	return false
}

func (*standIn) until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never happened that " + what)
		}
	}
}

// Say implements channeltest.Platform.
func (s *standIn) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	body := map[string]any{"from": userOf(who), "date": time.Now().Unix(), "chat": chatOf(group), "text": text}
	if where.Direct {
		body["chat"] = chatOf(person(who).ID)
	}
	for _, m := range s.Messages() {
		if where.ReplyTo != "" && m.ID == where.ReplyTo {
			body["reply_to_message"] = s.said(t, m)
		}
	}
	return fmt.Sprint(s.act(t, "/sendMessage", body).ID)
}
