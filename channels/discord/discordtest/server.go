// Package discordtest is a fake of Discord for tests: a real HTTP server with
// the calls that the channel makes, a real gateway (hello, identify, ready,
// heartbeats, resume, the codes with which Discord hangs up), interactions that
// come through it, and the refusals that matter (limits,
// an answer that comes after three seconds, a second answer). It keeps what
// channels show and lets tests act as people there. It is no Discord: it knows
// one bot and as many channels as are written to.
package discordtest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// Server is the fake. Its methods are safe for concurrent use.
type Server struct {
	channeltest.Faults
	Token string

	http *httptest.Server

	*changes
	gateway
	messages     []*Message
	interactions map[string]*interaction
	calls        []string
	endpoint     string // of interactions, as the application says; empty: the gateway
	loseAnswers  int
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
	all := &changes{nextID: 1_000_000}
	s := &Server{
		Token: token, changes: all,
		interactions: make(map[string]*interaction), gateway: gateway{all, token, gate{beat: 40 * time.Second, sessions: make(map[string]*session)}},
	}
	s.http = httptest.NewServer(s.routes())
	return s
}

// Close ends the server and whatever hangs in it.
func (s *Server) Close() {
	s.Break(channeltest.Fault{})
	s.HangUp(1001)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is where the API is.
func (s *Server) URL() string { return s.http.URL }

// BotID is the bot's user id, and the application's.
const BotID = "900000000000000900"

// GuildID is the server that every channel is in which is no direct message.
const GuildID = "500"

// NoChannel is the id of no channel.
const NoChannel = "404"

// DirectID is the channel of direct messages with a user.
func DirectID(user string) string { return "7000" + user }

// isDirect tells direct messages from channels of a server.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "7000") }

// Calls are the calls that were made, in order, without ids.
func (s *Server) Calls() []string {
	s.Lock()
	defer s.Unlock()
	return append([]string(nil), s.calls...)
}

// Messages are copies of what the bot has written everywhere.
func (s *Server) Messages() []Message {
	s.Lock()
	defer s.Unlock()
	out := make([]Message, len(s.messages))
	for i, m := range s.messages {
		out[i] = *m
	}
	return out
}

// LoseAnswers lets the next calls take effect and breaks the connection instead
// of answering them.
func (s *Server) LoseAnswers(n int) {
	s.Lock()
	defer s.Unlock()
	s.loseAnswers = n
}

// Endpoint sets the Interactions Endpoint URL of the application.
func (s *Server) Endpoint(url string) {
	s.Lock()
	defer s.Unlock()
	s.endpoint = url
}

// changes is the lock that the parts of the server share, and the ids that they give.
type changes struct {
	channeltest.Changes
	nextID int64
}

// id makes a new id. The lock is held.
func (c *changes) id() string {
	c.nextID++
	return strconv.FormatInt(c.nextID, 10)
}

// refusal is an error of the API.
type refusal struct {
	status, code int
	text         string
}

func invalid(text string) *refusal {
	return &refusal{http.StatusBadRequest, 50035, "Invalid Form Body: " + text}
}

// handler is one call: what it makes, or a refusal. Nothing is 204.
type handler func(s *Server, r *http.Request) (any, *refusal)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]handler{
		"POST /channels/{channel}/messages":                 (*Server).createMessage,
		"PATCH /channels/{channel}/messages/{message}":      (*Server).editMessage,
		"GET /channels/{channel}":                           (*Server).channel,
		"POST /users/@me/channels":                          (*Server).createDirect,
		"GET /users/@me":                                    (*Server).me,
		"POST /interactions/{interaction}/{token}/callback": (*Server).callback,
		"PATCH /webhooks/{app}/{token}/messages/{message}":  (*Server).editOriginal,
		"DELETE /webhooks/{app}/{token}/messages/{message}": (*Server).deleteOriginal,
		"GET /gateway/bot":                                  (*Server).gatewayBot,
		"GET /applications/@me":                             (*Server).application,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v9"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, pattern, do) })
	}
	mux.HandleFunc("/gateway/", s.connect)
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, pattern string, do handler) {
	s.Lock()
	s.calls = append(s.calls, pattern)
	s.Unlock()
	byToken := strings.Contains(pattern, "{token}")
	listening := strings.Contains(pattern, "/gateway/") || strings.Contains(pattern, "/applications/")
	if !byToken && r.Header.Get("Authorization") != "Bot "+s.Token {
		respond(w, nil, &refusal{http.StatusUnauthorized, 0, "401: Unauthorized"})
		return
	}
	if !listening && s.Meet(w, r, fail) {
		return
	}
	result, err := do(s, r)
	if !listening {
		s.Wait(r)
		s.Lock()
		lost := s.loseAnswers > 0
		s.loseAnswers = max(s.loseAnswers-1, 0)
		s.Unlock()
		if lost {
			panic(http.ErrAbortHandler)
		}
	}
	respond(w, result, err)
}

// fail answers with Discord's own words.
func fail(w http.ResponseWriter, x channeltest.Fault) {
	switch x.Kind {
	case channeltest.Unauthorized:
		respond(w, nil, &refusal{http.StatusUnauthorized, 0, "401: Unauthorized"})
	case channeltest.Forbidden:
		respond(w, nil, &refusal{http.StatusForbidden, 50013, "Missing Permissions"})
	case channeltest.Refused:
		respond(w, nil, &refusal{http.StatusBadRequest, 50035, x.Says})
	case channeltest.Limited:
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset-After", strconv.Itoa(int(x.After.Seconds())))
		w.Header().Set("Retry-After", strconv.Itoa(int(x.After.Seconds())))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		json.MarshalWrite(w, map[string]any{"message": "You are being rate limited.", "retry_after": x.After.Seconds(), "global": false}) //nolint:errcheck // the client may have gone
	default:
		respond(w, nil, &refusal{http.StatusInternalServerError, 0, "500: Internal Server Error"})
	}
}

func respond(w http.ResponseWriter, result any, err *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-RateLimit-Remaining", "0") // a library that sleeps on it is found out
	w.Header().Set("X-RateLimit-Reset-After", "30")
	switch {
	case err != nil:
		w.WriteHeader(err.status)
		json.MarshalWrite(w, map[string]any{"code": err.code, "message": err.text}) //nolint:errcheck // the client may have gone
	case result == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		json.MarshalWrite(w, result) //nolint:errcheck // the client may have gone
	}
}
