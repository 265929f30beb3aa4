// Package slacktest is a fake of Slack for tests: a real HTTP server with the
// methods of the Web API that the channel calls, Socket Mode over a real
// websocket, and the refusals that matter (limits of blocks,
// wrong tokens). It keeps what a workspace shows and lets tests
// act as people in it. It is no Slack: it knows one app, one workspace and one
// channel besides direct messages.
package slacktest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Who and where the app is.
const (
	Team    = "T0VERIFIER"
	BotUser = "U0VERIFIER"
	BotID   = "B0VERIFIER"
	AppID   = "A0VERIFIER"
	Channel = "C0APPROVALS"
)

// Keys are what the app and Slack know each other by.
type Keys struct {
	BotToken, AppToken string
}

// Server is the fake. Its methods are safe for concurrent use.
type Server struct {
	channeltest.Faults
	Keys

	http *httptest.Server
	ctx  context.Context // ends with the server
	end  context.CancelFunc

	*changes
	sockets
	messages   []*Message
	lines      []line
	uploads    map[string]*channeltest.File
	calls      []string
	Enterprise string // the company that the workspace belongs to, if it does

	Names map[string]string // what people are called, by their ids; nil: the app may not ask
}

// Message is what the app has written.
type Message struct {
	Channel, TS, Thread string
	Only                string // who alone sees it
	ReplyTo             string // the line that it answers
	Text                string
	Blocks              jsontext.Value
	Lively              []string // options that let Slack look for something in it
	File                *channeltest.File
}

// line is what a person has written.
type line struct {
	id, user, channel, thread string
}

// New starts a server that ends with the test.
func New(t testing.TB, k Keys) *Server {
	t.Helper()
	s := Open(k)
	t.Cleanup(s.Close)
	return s
}

// Open starts a server for a test that runs elsewhere.
func Open(k Keys) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	all := &changes{nextID: 100}
	s := &Server{
		Keys: k, ctx: ctx, end: cancel, changes: all,
		uploads: make(map[string]*channeltest.File), sockets: sockets{changes: all, open: make(map[*socket]bool)},
	}
	s.http = httptest.NewServer(s)
	return s
}

// Close ends the server and whatever hangs in it.
func (s *Server) Close() {
	s.end()
	s.Lock()
	s.closed = true
	s.Unlock()
	s.Break(channeltest.Fault{})
	s.Disconnect()
	s.http.CloseClientConnections()
	s.http.Close()
	s.wg.Wait()
}

// URL is where the API is.
func (s *Server) URL() string { return s.http.URL + "/api" }

// Calls are the methods that were called, in order.
func (s *Server) Calls() []string {
	s.Lock()
	defer s.Unlock()
	return append([]string(nil), s.calls...)
}

// Messages are copies of what the app has written.
func (s *Server) Messages() []Message {
	s.Lock()
	defer s.Unlock()
	out := make([]Message, len(s.messages))
	for i, m := range s.messages {
		out[i] = *m
	}
	return out
}

// changes is the lock that the parts of the server share, and the ids that they give.
type changes struct {
	channeltest.Changes
	nextID int
}

// id makes an id. The lock is held.
func (c *changes) id(prefix string) string {
	c.nextID++
	return fmt.Sprint(prefix, c.nextID)
}

// ts makes the time that names a message. The lock is held.
func (c *changes) ts() string {
	c.nextID++
	return fmt.Sprintf("%d.%06d", time.Now().Unix(), c.nextID)
}

// DirectWith is the direct message between a person and the app.
func DirectWith(user string) string { return "D" + user[1:] }

// answer is what a method says.
type answer map[string]any

// bad refuses.
func bad(word string) answer { return answer{"ok": false, "error": word} }

type method func(*Server, *call) answer

var methods = map[string]method{
	"auth.test": (*Server).authTest, "chat.postMessage": (*Server).postMessage, "chat.postEphemeral": (*Server).postEphemeral,
	"chat.update": (*Server).update, "files.getUploadURLExternal": (*Server).getUploadURL,
	"files.completeUploadExternal": (*Server).completeUpload, "users.info": (*Server).usersInfo,
}

// ServeHTTP is the API, and the other end of Socket Mode.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, isMethod := strings.CutPrefix(r.URL.Path, "/api/")
	if isMethod {
		s.Lock()
		s.calls = append(s.calls, name)
		s.Unlock()
	}
	switch {
	case r.URL.Path == "/link":
		s.link(w, r)
	case name == "apps.connections.open":
		s.openConnection(w, r)
	case name != "auth.test" && name != "users.info" && s.Meet(w, r, fail):
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		s.upload(w, r)
	case isMethod:
		out := s.callMethod(name, r)
		if name != "auth.test" {
			s.Wait(r)
		}
		respond(w, out)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) callMethod(name string, r *http.Request) answer {
	do, known := methods[name]
	c, err := readCall(r)
	switch {
	case !known:
		return bad("unknown_method")
	case err != nil:
		return bad("invalid_arguments")
	case c.token == s.AppToken:
		return bad("not_allowed_token_type")
	case c.token != s.BotToken:
		return bad("invalid_auth")
	}
	return do(s, c)
}

// fail answers with Slack's own words.
func fail(w http.ResponseWriter, x channeltest.Fault) {
	switch x.Kind {
	case channeltest.Unauthorized:
		respond(w, bad("invalid_auth"))
	case channeltest.Forbidden:
		respond(w, bad("not_in_channel"))
	case channeltest.Refused:
		respond(w, bad(x.Says))
	case channeltest.Limited:
		w.Header().Set("Retry-After", fmt.Sprint(int(x.After.Seconds())))
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func respond(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.MarshalWrite(w, a); err != nil {
		return // the client has gone
	}
}
