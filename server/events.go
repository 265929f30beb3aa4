package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Loop hears what the agent's loop does.
type Loop interface {
	Hear(ctx context.Context, e *protocol.Event) protocol.Answer
	Notice(ctx context.Context, c *protocol.Call) protocol.Answer
}

// beside is a path next to the calls' own: its last segment replaced.
func beside(calls, name string) string { return path.Join(path.Dir(calls), name) }

// largeBodies is how many bodies beyond a call's size are read at a time: until
// it is read, anyone could have sent it.
const largeBodies = 4

// loopEvents take one event each, under the rules of a call.
func (s *Server) loopEvents() http.HandlerFunc {
	return s.take(signed{
		what: "event", size: "8 MiB", drain: 2 * maxDrain, read: s.readEvent, decode: s.decodeEvent,
		unread: func(r *http.Request, reason string) []byte { return verifier.Refused(nameOf(r), reason).JSON() },
		crashed: func(r *http.Request) []byte {
			return verifier.Refused(nameOf(r), "The verifier could not take it in.").JSON()
		},
	})
}

func nameOf(r *http.Request) protocol.Name { return protocol.Name(r.PathValue("name")) }

// decodeEvent reads an event, or a call that came as one.
func (s *Server) decodeEvent(r *http.Request, from caller, body []byte) (message, error) {
	name := nameOf(r)
	if name == protocol.BeforeToolCall {
		return s.decodeBefore(r, from, body)
	}
	e, err := protocol.DecodeEvent(name, body)
	return s.eventMessage(name, from, &e.Call, func(ctx context.Context) protocol.Answer {
		return s.o.Loop.Hear(ctx,
			&e)
	}), err
}

// decodeBefore reads the notice of a call, or else a call: what is neither is
// denied, and no notice is taken by a deny.
func (s *Server) decodeBefore(r *http.Request, from caller, body []byte) (message, error) {
	call, notice, err := protocol.DecodeNotice(body)
	if err != nil || !notice {
		return s.decodeCall(r, from, body)
	}
	return s.eventMessage(protocol.BeforeToolCall, from, &call,
		func(ctx context.Context) protocol.Answer { return s.o.Loop.Notice(ctx, &call) }), nil
}

// eventMessage is the message of an event.
func (s *Server) eventMessage(name protocol.Name, from caller, call *protocol.Call,
	hear func(context.Context) protocol.Answer) message {
	return message{
		call: call,
		accept: func(w http.ResponseWriter, r *http.Request) {
			answer200(w, from.secret, call.RequestID, hear(r.Context()).JSON())
		},
		refuse: func(ctx context.Context, err error) []byte {
			s.o.Log.WarnContext(ctx, "an event was refused", "client", from.client, "err", err)
			return verifier.Refused(name, refused(err).reason).JSON()
		},
	}
}

// readEvent reads a body that may be larger than a call's. Few of those are read
// at a time: the others wait, no longer than a body may take.
func (s *Server) readEvent(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if 0 <= r.ContentLength && r.ContentLength <= protocol.MaxBody {
		return readBody(r, protocol.MaxBody)
	}
	enough := time.NewTimer(bodyTimeout)
	defer enough.Stop()
	select {
	case s.large <- struct{}{}:
		defer func() { <-s.large }()
		rc := http.NewResponseController(w)
		if err := rc.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, err
		}
		return readBody(r, protocol.MaxEventBody)
	case <-enough.C:
		return nil, os.ErrDeadlineExceeded
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
