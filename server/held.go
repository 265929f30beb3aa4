package server

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// held is a caller that waits for people, on a connection that is ours: all
// that net/http keeps for a request that is being answered, its buffers and a deep
// stack above all, is three times what this takes. Thousands may wait for minutes.
//
// The connection ends with the answer.
type held struct {
	conn      net.Conn
	route     string
	started   time.Time
	peer      string // empty unless it is logged
	id        string // of the HTTP request
	secret    []byte
	requestID string
	wait      func(context.Context) []byte // for the answer's body
	crashed   []byte                       // the body where that panics
}

// hold lets a caller wait. Where its connection can't be taken over, it waits as
// any request does.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, from caller, requestID string, wait func(context.Context) []byte, crashed []byte) {
	h := &held{
		route: r.Pattern, started: time.Now(), secret: from.secret, requestID: requestID, wait: wait, crashed: crashed,
		id: w.Header().Get(RequestIDHeader),
	}
	if s.debugs(r.Context()) {
		h.peer = s.Peer(r)
	}
	s.holding.Add(1) // before net/http forgets the connection: a shutdown waits for one or the other
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.holding.Done()
		answer200(w, from.secret, requestID, wait(r.Context()))
		return
	}
	s.tidy()
	h.conn = conn
	go s.serveHeld(h)
}

// tidy collects garbage after each thousand who are held: what they leave behind
// while they come lies between what they keep, and is where the next thousand fit.
func (s *Server) tidy() {
	if s.everHeld.Add(1)%1000 == 0 {
		go runtime.GC()
	}
}

// serveHeld waits for the answer and gives it. A panic is a deny, or where it
// struck while that was written, an end without a word.
func (s *Server) serveHeld(h *held) {
	defer s.holding.Done()
	ctx, cancel := context.WithCancel(&identity{s.held, h.id})
	defer cancel()
	defer h.conn.Close() //nolint:errcheck // what was written is on its way
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.ErrorContext(ctx, "a connection ended in a panic", "panic", crash.Recovered(p))
		}
	}()
	s.holding.Go(func() { h.watch(cancel) })
	s.answerHeld(ctx, h, s.awaitHeld(ctx, h))
}

// watch tells when the caller has gone. What it sends while it waits is not read
// as a request, but is taken in: to close a connection on something unread would
// cut off the answer.
func (h *held) watch(gone func()) {
	defer gone()
	var stray [64]byte
	for range maxStray {
		if _, err := h.conn.Read(stray[:]); err != nil {
			return
		}
	}
}

// maxStray is how often that is done. Who goes on sending is cut off.
const maxStray = 64

// awaitHeld waits for the answer.
func (s *Server) awaitHeld(ctx context.Context, h *held) (body []byte) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.ErrorContext(ctx, "a request ended in a panic", "path", h.route, "panic", crash.Recovered(p))
			body = h.crashed
		}
	}()
	return h.wait(ctx)
}

// answerHeld writes the answer as reply200 would.
func (s *Server) answerHeld(ctx context.Context, h *held, body []byte) {
	header := make(http.Header, 2)
	stampAnswer(header, h.secret, h.requestID, body)
	err := h.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err == nil {
		_, err = h.conn.Write(h.written(header, body))
	}
	if err != nil {
		s.o.Log.DebugContext(ctx, "a caller that was held could not be answered", "err", err)
	}
	s.answered(ctx, h.route, http.StatusOK, h.started, h.peer)
}

// written is an answer as it goes over the wire. All of it is ours, and
// has no line breaks.
func (h *held) written(header http.Header, body []byte) []byte {
	text := make([]byte, 0, 512)
	text = append(text, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: "+jsonType+"\r\nContent-Length: "...)
	text = strconv.AppendInt(text, int64(len(body)), 10)
	text = append(text, "\r\nDate: "...)
	text = time.Now().UTC().AppendFormat(text, http.TimeFormat)
	text = append(append(text, "\r\n"+RequestIDHeader+": "...), h.id...)
	for name, values := range header {
		text = append(append(append(append(text, "\r\n"...), name...), ": "...), values[0]...)
	}
	return append(append(text, "\r\n\r\n"...), body...)
}

// released returns when all who are held have their answers, or ctx ends.
func (s *Server) released(ctx context.Context) error {
	all := make(chan struct{})
	go func() {
		s.holding.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	longestPoll = 50 * time.Second
	pollMargin  = 5 * time.Second // left for the caller to hear the answer before it gives up
	maxTicket   = 256
	maxPolls    = 8 // of one client at a time; any more are answered at once
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
	call, tickets, err := polledTickets(body)
	return message{
		call:   &call,
		accept: func(w http.ResponseWriter, r *http.Request) { s.late(w, r, from, &call, tickets) },
		refuse: func(ctx context.Context, err error) []byte {
			s.o.Log.WarnContext(ctx, "a poll for late answers was refused", "client", from.client, "err", err)
			return noneAnswered
		},
	}, err
}

func (s *Server) late(w http.ResponseWriter, r *http.Request, from caller, call *toolcall.Call, tickets []string) {
	wait := min(longestPoll, time.Duration(min(call.Context.WaitMs, time.Hour.Milliseconds()))*time.Millisecond-pollMargin)
	if wait <= 0 || len(tickets) == 0 || !s.polls.enter(from.client) {
		wait = 0
	}
	s.hold(w, r, from, call.RequestID, func(ctx context.Context) []byte {
		if wait > 0 {
			defer s.polls.leave(from.client)
		}
		return s.poll(ctx, from.client, tickets, wait)
	}, noneAnswered)
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

// polledTickets reads a body with a list of questions in place of a tool.
func polledTickets(body []byte) (toolcall.Call, []string, error) {
	call, raw, err := toolcall.DecodeAbout(body, maxAnswer, "questions")
	if err != nil {
		return call, nil, err
	}
	var tickets []string
	if raw.Kind() != '[' || json.Unmarshal(raw, &tickets) != nil || len(tickets) > approval.MaxTickets {
		return call, nil, &toolcall.Malformed{Reason: "questions must be a list of at most 32 strings."}
	}
	for _, t := range tickets {
		if len(t) > maxTicket {
			return call, nil, &toolcall.Malformed{Reason: "a question has at most 256 characters."}
		}
	}
	return call, tickets, nil
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
