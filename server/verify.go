package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// calls take one call each: authenticate the raw bytes, decode them, check the
// clock, decide, sign the answer.
func (s *Server) calls() http.HandlerFunc {
	return s.take(signed{
		what: "call", size: "1 MiB", drain: maxDrain, read: within(toolcall.MaxBody), handle: s.decide,
		unread:  func(_ *http.Request, reason string) []byte { return answerBody(verifier.Decision{Reason: reason}) },
		crashed: func(*http.Request) []byte { return undecided },
	})
}

// decide takes a call whose caller is known.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, from caller, body []byte) {
	ctx := r.Context()
	call, kind, reason := s.judgeable(r.Header, from, body)
	if kind != "" {
		s.answer200(w, from.secret, call.RequestID, answerBody(s.o.Verifier.Reject(ctx, call, kind, reason)))
		return
	}
	d, hold := s.o.Verifier.VerifyOrHold(ctx, call)
	if hold != nil {
		s.hold(w, r, from, call.RequestID, func(ctx context.Context) []byte { return answerBody(hold(ctx)) }, undecided)
		return
	}
	s.answer200(w, from.secret, call.RequestID, answerBody(d))
}

// judgeable decodes a call, and says what is wrong with one that can't be
// judged.
func (s *Server) judgeable(h http.Header, from caller, body []byte) (call *toolcall.Call, kind, reason string) {
	decoded, err := toolcall.Decode(body)
	call = &decoded
	call.Client = from.client
	if s.o.Traced {
		if parent := h.Get("Traceparent"); len(parent) <= maxParent {
			call.Trace = strings.Clone(parent)
		}
	}
	if err != nil {
		return call, "malformed", malformed(err)
	}
	if s.o.Via != nil {
		via, ok := s.o.Via(h)
		if call.Via = via; !ok {
			return call, "loop", reasonLoop
		}
	}
	if tolerance := s.o.Tolerance(); s.o.Now().Sub(call.Timestamp).Abs() > tolerance {
		return call, "clock", "The call's timestamp is more than " + tolerance.String() + " off. Check the clocks."
	}
	return call, "", ""
}

// maxParent is the longest traceparent that is taken; those of today have 55 bytes.
const maxParent = 128

const reasonLoop = "The verifiers that have to agree ask each other in a circle. Nothing was run."

func malformed(err error) string {
	if m, ok := errors.AsType[*toolcall.Malformed](err); ok {
		return m.Reason
	}
	return "The call could not be read."
}

// answerBody is what a client reads: decision, reason and, where a person was
// asked, ref, and question where it is still open, and params where a person
// changed them. It must not be changed.
func answerBody(d verifier.Decision) []byte {
	if d == (verifier.Decision{Allow: true}) {
		return plainAllow
	}
	body := make([]byte, 0, len(plainAllow)+len(d.Reason)+len(d.Ref)+len(d.Ticket)+len(d.Params)+48)
	if d.Allow {
		body = append(body, `{"decision":"allow","reason":`...)
	} else {
		body = append(body, `{"decision":"deny","reason":`...)
	}
	body = appendText(body, d.Reason)
	if d.Ref != "" {
		body = appendText(append(body, `,"ref":`...), d.Ref)
	}
	if d.Ticket != "" {
		body = appendText(append(body, `,"question":`...), d.Ticket)
	}
	if d.Allow && d.Params != "" {
		body = append(append(body, `,"params":`...), d.Params...)
	}
	return append(body, '}')
}

// plainAllow is what most clients read.
var plainAllow = []byte(`{"decision":"allow","reason":""}`)

// appendText writes a JSON string. What is not UTF-8 becomes a replacement
// character, as it would for any reader.
func appendText(b []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		quoted, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(text, "\ufffd"))
	}
	return quoted
}

// undecided is the answer to a call whose decision ended in a panic.
var undecided = answerBody(verifier.Decision{Reason: "The verifier could not decide. Nothing was run."})

// answer200 writes an answer. Where it is known who asks, it is signed with the
// secret that signed the call, over the request's own id, so that no answer fits
// another request.
func (s *Server) answer200(w http.ResponseWriter, secret []byte, requestID string, body []byte) {
	stampAnswer(w.Header(), secret, requestID, body)
	rc := http.NewResponseController(w)
	if err := rc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		failed(w, http.StatusInternalServerError)
		return
	}
	write(w, http.StatusOK, jsonType, body)
}

// stampAnswer signs an answer, and keeps it out of caches.
func stampAnswer(h http.Header, secret []byte, requestID string, body []byte) {
	if secret != nil {
		h[hmac.AnswerHeader] = []string{hmac.SignAnswer(secret, requestID, body)}
	}
	h["Cache-Control"] = []string{"no-store"}
}
