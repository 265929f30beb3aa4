package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// signed is the one way in for what a client signs: calls, events, answers that a
// runtime passes on, and polls.
type signed struct {
	what    string // a noun, for the answers below
	size    string // its limit in words
	drain   int64  // how much of a body that is too large is read and thrown away: a client that is still writing when we hang up sees no answer
	read    func(w http.ResponseWriter, r *http.Request) ([]byte, error)
	decode  func(r *http.Request, from caller, body []byte) (message, error)
	unread  func(r *http.Request, reason string) []byte // the answer to a body that did not arrive whole
	crashed func(r *http.Request) []byte                // the answer where a handler ends in a panic
}

// message is what an authentic body says.
type message struct {
	call   *protocol.Call                               // its head; as far as it could be decoded
	accept func(w http.ResponseWriter, r *http.Request) // answers a message that is whole and on time
	refuse func(ctx context.Context, err error) []byte  // the answer to any other
}

// refusal is why an authentic body is not accepted.
type refusal struct {
	kind   string // for the record
	reason string // for the client
}

func (e *refusal) Error() string { return e.reason }

// take is the handler of a route: it reads the whole body within its bounds, checks
// the signature over the raw bytes, decodes them and checks the clock.
func (s *Server) take(in signed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer s.recovered(w, r, func() { answer200(w, nil, "", in.crashed(r)) })
		body, from, ok := s.authentic(w, r, in)
		if !ok {
			s.rejected.Add(1)
			return
		}
		m, err := in.decode(r, from, body)
		m.call.Client, m.call.Body = from.client, from.body
		if err == nil {
			err = s.onTime(m.call)
		}
		if err != nil {
			answer200(w, from.secret, m.call.RequestID, m.refuse(r.Context(), err))
			return
		}
		m.accept(w, r)
	}
}

// authentic reads a body and finds who signed it, or answers the request. A body
// that did not arrive whole can't be authenticated, and yet 413 or 408 would leave
// the decision to the client's failMode: it gets an unsigned answer that grants
// nothing.
func (s *Server) authentic(w http.ResponseWriter, r *http.Request, in signed) (body []byte, from caller, ok bool) {
	body, err := in.read(w, r)
	switch {
	case err == nil:
		if from, ok = s.o.Auth().call(r.Header, body); !ok {
			plain(w, http.StatusUnauthorized, "The signature is missing or wrong.\n")
		}
	case errors.Is(err, errTooLarge):
		_, _ = io.CopyN(io.Discard, r.Body, in.drain)
		answer200(w, nil, "", in.unread(r, "The "+in.what+" is larger than "+in.size+" and was not read."))
	case errors.Is(err, os.ErrDeadlineExceeded):
		answer200(w, nil, "", in.unread(r, "The "+in.what+" did not arrive in time and was not read."))
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
	return body, from, ok
}

// onTime refuses what was sent too long ago, or from the future.
func (s *Server) onTime(c *protocol.Call) error {
	tolerance := s.o.Tolerance()
	if s.o.Now().Sub(c.Timestamp).Abs() > tolerance {
		return &refusal{"clock", "The timestamp is more than " + tolerance.String() + " off. Check the clocks."}
	}
	return nil
}

// refused says why a body is not accepted.
func refused(err error) *refusal {
	if why, ok := errors.AsType[*refusal](err); ok {
		return why
	}
	if m, ok := errors.AsType[*protocol.Malformed](err); ok {
		return &refusal{"malformed", m.Reason}
	}
	return &refusal{"malformed", "The call could not be read."}
}

// within reads bodies up to a limit.
func within(limit int) func(http.ResponseWriter, *http.Request) ([]byte, error) {
	return func(_ http.ResponseWriter, r *http.Request) ([]byte, error) { return readBody(r, limit) }
}

var errTooLarge = errors.New("server: the body is too large")

// readBody reads a whole body within a bound of size. The bound of time is the
// server's. Memory follows what has arrived; what the caller claims to send counts as
// far as calls are usually large.
func readBody(r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge
	}
	const usual = 16 << 10
	body := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), usual)+bytes.MinRead))
	switch n, err := body.ReadFrom(io.LimitReader(r.Body, int64(limit)+1)); {
	case err != nil:
		return nil, err
	case n > int64(limit):
		return nil, errTooLarge
	}
	return body.Bytes(), nil
}
