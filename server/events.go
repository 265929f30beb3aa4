package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Loop hears what the agent's loop does.
type Loop interface {
	Hear(ctx context.Context, e *loop.Event) loop.Answer
	Notice(ctx context.Context, c *toolcall.Call) loop.Answer
	// Graph is a turn by any of its names; the error is verifier.ErrNoGraph where
	// none is remembered.
	Graph(ctx context.Context, name string) (*provenance.Graph, error)
}

// beside is a path next to the calls' own: its last segment replaced.
func beside(calls, name string) string { return path.Join(path.Dir(calls), name) }

// events is where events come in.
func (s *Server) events() string { return beside(s.o.Path, "hooks/:event") }

// largeBodies is how many bodies beyond a call's size are read at a time: until
// it is read, anyone could have sent it.
const largeBodies = 4

// loopEvents take one event each, under the rules of a call.
func (s *Server) loopEvents() echo.HandlerFunc {
	return s.take(signed{
		what: "event", size: "8 MiB", drain: 2 * maxDrain, read: s.readEvent, handle: s.event,
		unread: func(c echo.Context, reason string) []byte { return verifier.Refused(nameOf(c), reason).JSON() },
	})
}

func nameOf(c echo.Context) loop.Name { return loop.Name(c.Param("event")) }

func (s *Server) event(c echo.Context, from caller, body []byte) error {
	name := nameOf(c)
	if name == loop.BeforeToolCall {
		return s.beforeToolCall(c, from, body)
	}
	e, err := loop.Decode(name, body)
	e.Call.Client = from.client
	if err == nil {
		err = s.onTime(&e.Call)
	}
	if err != nil {
		s.o.Log.WarnContext(c.Request().Context(), "an event was refused", "client", from.client, "err", err)
		return s.answer200(c, from.secret, e.Call.RequestID, verifier.Refused(name, malformed(err)).JSON())
	}
	return s.answer200(c, from.secret, e.Call.RequestID, s.o.Loop.Hear(c.Request().Context(), &e).JSON())
}

// beforeToolCall is the notice of a call, or else a call: what is neither is
// denied, and no notice is taken by a deny.
func (s *Server) beforeToolCall(c echo.Context, from caller, body []byte) error {
	call, notice, err := toolcall.DecodeNotice(body)
	if err != nil || !notice {
		return s.decide(c, from, body)
	}
	call.Client = from.client
	answer := verifier.Refused(loop.BeforeToolCall, "")
	if err := s.onTime(&call); err != nil {
		answer.Reason = malformed(err)
	} else {
		answer = s.o.Loop.Notice(c.Request().Context(), &call)
	}
	return s.answer200(c, from.secret, call.RequestID, answer.JSON())
}

// onTime refuses what was sent too long ago, or from the future.
func (s *Server) onTime(c *toolcall.Call) error {
	tolerance := s.o.Tolerance()
	if s.o.Now().Sub(c.Timestamp).Abs() > tolerance {
		return &toolcall.Malformed{Reason: "The timestamp is more than " + tolerance.String() + " off. Check the clocks."}
	}
	return nil
}

// readEvent reads a body that may be larger than a call's. Few of those are read
// at a time: whoever is not among them waits, no longer than a body may take.
func (s *Server) readEvent(c echo.Context) ([]byte, error) {
	r := c.Request()
	if 0 <= r.ContentLength && r.ContentLength <= toolcall.MaxBody {
		return readBody(r, toolcall.MaxBody)
	}
	enough := time.NewTimer(bodyTimeout)
	defer enough.Stop()
	select {
	case s.large <- struct{}{}:
		defer func() { <-s.large }()
		rc := http.NewResponseController(c.Response().Writer)
		if err := rc.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, err
		}
		return readBody(r, loop.MaxBody)
	case <-enough.C:
		return nil, os.ErrDeadlineExceeded
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
