package server

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
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
