package server

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// signed is the one way in for what a client signs: calls, events, answers that a
// runtime passes on, and polls. It reads the whole body within its bounds and checks
// the signature over the raw bytes. The handler gets only what is authentic; it
// decodes it and checks the clock.
type signed struct {
	what    string // a noun, for the answers below
	size    string // its limit in words
	drain   int64  // how much of a body that is too large is read and thrown away: a client that is still writing when we hang up sees no answer
	read    func(w http.ResponseWriter, r *http.Request) ([]byte, error)
	unread  func(r *http.Request, reason string) []byte // the answer to a body that did not arrive whole
	crashed func(r *http.Request) []byte                // the answer where a handler ends in a panic
	handle  func(w http.ResponseWriter, r *http.Request, from caller, body []byte)
}

// take is the handler of a route. A body that did not arrive whole can't be
// authenticated, and yet 413 or 408 would leave the decision to the client's
// failMode: it gets an answer that nobody signed and that grants nothing.
func (s *Server) take(in signed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer s.recovered(w, r, func() { s.answer200(w, nil, "", in.crashed(r)) })
		body, err := in.read(w, r)
		switch {
		case err == nil:
			if from, ok := s.o.Auth().call(r.Header, body); ok {
				in.handle(w, r, from, body)
				return
			}
			plain(w, http.StatusUnauthorized, "The signature is missing or wrong.\n")
		case errors.Is(err, errTooLarge):
			_, _ = io.CopyN(io.Discard, r.Body, in.drain)
			s.answer200(w, nil, "", in.unread(r, "The "+in.what+" is larger than "+in.size+" and was not read."))
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.answer200(w, nil, "", in.unread(r, "The "+in.what+" did not arrive in time and was not read."))
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
		s.rejected.Add(1)
	}
}

// within reads bodies up to a limit.
func within(limit int) func(http.ResponseWriter, *http.Request) ([]byte, error) {
	return func(_ http.ResponseWriter, r *http.Request) ([]byte, error) { return readBody(r, limit) }
}

var errTooLarge = errors.New("server: the body is too large")

// readBody reads a whole body within a bound of size. The bound of time is the
// server's. Memory follows what has arrived, not what the caller claims to send.
func readBody(r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > limit:
		return nil, errTooLarge
	}
	return body, nil
}
