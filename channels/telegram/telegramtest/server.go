// Package telegramtest is a fake of Telegram's Bot API for tests: a real HTTP
// server with the methods that the channel calls, long polling, and the
// refusals that matter (limits, broken entities, a second poller). It keeps
// what a chat shows and lets tests act as people in it. It is no Telegram: it
// knows one bot and as many chats as are written to.
package telegramtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Server is the fake. Its methods are safe for concurrent use.
type Server struct {
	channeltest.Faults
	Token string

	http *httptest.Server

	channeltest.Changes
	nextID   int64
	messages []*Message
	updates  []update
	acked    int64 // the highest update that a poller has confirmed
	pollers  int
	rival    bool // another program polls
	queries  map[string]*query
	calls    []string
}

// Message is a message in a chat.
type Message struct {
	Chat, ID int64
	Thread   int64
	Text     string
	Entities []Entity
	Buttons  [][]Button
	File     *channeltest.File
	ReplyTo  int64
	Preview  bool
}

// Entity is a formatted part of a text, in UTF-16 units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url"`
	User   *user  `json:"user"`
}

// Button is an inline button.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
	URL  string `json:"url"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
}

// New starts a server that ends with the test.
func New(t testing.TB, token string) *Server {
	t.Helper()
	s := Open(token)
	t.Cleanup(s.Close)
	return s
}

// Open starts a server for a test that runs elsewhere.
func Open(token string) *Server {
	s := &Server{Token: token, nextID: 100, queries: make(map[string]*query)}
	s.http = httptest.NewServer(s)
	return s
}

// Close ends the server and whatever hangs in it.
func (s *Server) Close() {
	s.Break(channeltest.Fault{})
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is where the API is.
func (s *Server) URL() string { return s.http.URL }

// BotID is the bot's user id.
func (s *Server) BotID() int64 {
	var id int64
	fmt.Sscanf(s.Token, "%d:", &id) //nolint:errcheck // a token without one belongs to no bot
	return id
}

// Calls are the methods that were called, in order.
func (s *Server) Calls() []string {
	s.Lock()
	defer s.Unlock()
	return append([]string(nil), s.calls...)
}

// Messages are copies of the messages in all chats.
func (s *Server) Messages() []Message {
	s.Lock()
	defer s.Unlock()
	out := make([]Message, len(s.messages))
	for i, m := range s.messages {
		out[i] = *m
	}
	return out
}

// refusal is an error of the API.
type refusal struct {
	status int
	text   string
	after  int
}

var methods = map[string]func(*Server, *form) (any, *refusal){
	"getMe": (*Server).getMe, "getChat": (*Server).getChat, "sendMessage": (*Server).sendMessage, "sendDocument": (*Server).sendDocument,
	"editMessageText": (*Server).editMessageText, "editMessageReplyMarkup": (*Server).editMessageReplyMarkup,
	"deleteMessage": (*Server).deleteMessage, "answerCallbackQuery": (*Server).answerCallbackQuery,
}

// ServeHTTP is the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, method, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	f := readForm(r)
	s.Lock()
	s.calls = append(s.calls, method)
	s.Unlock()
	switch {
	case !found || token != s.Token:
		respond(w, nil, &refusal{status: http.StatusUnauthorized, text: "Unauthorized"})
	case method == "getUpdates":
		s.getUpdates(w, r, f)
	case s.Meet(w, r, fail):
	default:
		do, known := methods[method]
		if !known {
			respond(w, nil, &refusal{status: http.StatusNotFound, text: "Not Found"})
			return
		}
		result, err := do(s, f)
		s.Wait(r)
		respond(w, result, err)
	}
}

// fail answers with Telegram's own words.
func fail(w http.ResponseWriter, x channeltest.Fault) {
	err := &refusal{status: http.StatusInternalServerError, text: "Internal Server Error"}
	switch x.Kind {
	case channeltest.Unauthorized:
		err = &refusal{status: http.StatusUnauthorized, text: "Unauthorized"}
	case channeltest.Forbidden:
		err = &refusal{status: http.StatusForbidden, text: "Forbidden: bot was kicked from the supergroup chat"}
	case channeltest.Refused:
		err = &refusal{status: http.StatusBadRequest, text: "Bad Request: " + x.Says}
	case channeltest.Limited:
		after := int(x.After.Seconds())
		err = &refusal{status: http.StatusTooManyRequests, text: fmt.Sprint("Too Many Requests: retry after ", after), after: after}
	}
	respond(w, nil, err)
}

func respond(w http.ResponseWriter, result any, err *refusal) {
	body, status := map[string]any{"ok": true, "result": result}, http.StatusOK
	if err != nil {
		status = err.status
		body = map[string]any{"ok": false, "error_code": err.status, "description": err.text}
		if err.after > 0 {
			body["parameters"] = map[string]any{"retry_after": err.after}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.MarshalWrite(w, body); err != nil {
		return // the client has gone
	}
}
