package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

const (
	longestPoll = 50 * time.Second
	pollMargin  = 5 * time.Second // left for the caller to hear the answer before it gives up
	maxPolls    = 8               // of one client at a time; any more are answered at once
)

// noneAnswered is the answer where there is nothing to tell, whatever the cause.
var noneAnswered = []byte(`{"answered":[]}`)

// latePolls take a poll each, under the rules of a call: a client asks whether questions
// got a yes after their calls were denied. It changes nothing, so it may come again.
func (s *Server) latePolls() http.HandlerFunc {
	return s.take(signed{
		what: "poll", size: "16 KiB", drain: maxDrain, read: within(maxAnswer), decode: s.decodePoll,
		unread:  func(*http.Request, string) []byte { return noneAnswered },
		crashed: func(*http.Request) []byte { return noneAnswered },
	})
}

// decodePoll reads a poll.
func (s *Server) decodePoll(_ *http.Request, from caller, body []byte) (message, error) {
	call, tickets, err := protocol.DecodeQuestions(body, maxAnswer)
	return message{
		call:   &call,
		accept: func(w http.ResponseWriter, r *http.Request) { s.late(w, r, from, &call, tickets) },
		refuse: func(ctx context.Context, err error) []byte {
			s.o.Log.WarnContext(ctx, "a poll for late answers was refused", "client", from.client, "err", err)
			return noneAnswered
		},
	}, err
}

func (s *Server) late(w http.ResponseWriter, r *http.Request, from caller, call *protocol.Call, tickets []string) {
	wait := min(longestPoll, time.Duration(min(call.Context.WaitMs, time.Hour.Milliseconds()))*time.Millisecond-pollMargin)
	if wait <= 0 || len(tickets) == 0 || !s.polls.enter(from.client) {
		wait = 0
	}
	if wait > 0 {
		defer s.polls.leave(from.client)
	}
	answer200(w, from.secret, call.RequestID, s.poll(r.Context(), from.client, tickets, wait))
}

// poll waits for late answers.
func (s *Server) poll(ctx context.Context, client string, tickets []string, wait time.Duration) []byte {
	answered := s.o.Desk.Answered(ctx, client, tickets, wait)
	if len(answered) == 0 {
		return noneAnswered
	}
	body, err := json.Marshal(map[string][]string{"answered": answered})
	if err != nil {
		return noneAnswered
	}
	return body
}

// polls counts how many of a client wait.
type polls struct {
	mu sync.Mutex
	by map[string]int
}

// enter reports whether there is room for one more.
func (p *polls) enter(client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[client] >= maxPolls {
		return false
	}
	if p.by == nil {
		p.by = make(map[string]int)
	}
	p.by[client]++
	return true
}

func (p *polls) leave(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by[client]--
}
