package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/verifier"
)

// calls take one call each.
func (s *Server) calls() http.HandlerFunc {
	return s.take(signed{
		what: "call", size: "1 MiB", drain: maxDrain, read: within(protocol.MaxBody), decode: s.decodeCall,
		unread:  func(_ *http.Request, reason string) []byte { return answerBody(verifier.Decision{Reason: reason}) },
		crashed: func(*http.Request) []byte { return undecided },
	})
}

// decodeCall reads a call. One that can't be judged is denied, and recorded as such.
func (s *Server) decodeCall(_ *http.Request, from caller, body []byte) (message, error) {
	decoded, err := protocol.Decode(body)
	call := &decoded
	return message{
		call:   call,
		accept: func(w http.ResponseWriter, r *http.Request) { s.decide(w, r, from, call) },
		refuse: func(ctx context.Context, err error) []byte {
			why := refused(err)
			return answerBody(s.o.Verifier.Reject(ctx, call, why.kind, why.reason))
		},
	}, err
}

// decide answers a call, now or when people have answered.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, from caller, call *protocol.Call) {
	answer200(w, from.secret, call.RequestID, answerBody(s.o.Verifier.Verify(r.Context(), call)))
}

// answerBody is what a client reads: decision, reason and, where a person was
// asked, ref, and question where it is still open, and params where a person
// changed them. It must not be changed.
func answerBody(d verifier.Decision) []byte {
	if d == (verifier.Decision{Allow: true}) {
		return plainAllow
	}
	out := struct {
		Decision string         `json:"decision"`
		Reason   string         `json:"reason"`
		Ref      string         `json:"ref,omitzero"`
		Question string         `json:"question,omitzero"`
		Params   jsontext.Value `json:"params,omitzero"`
	}{Decision: "deny", Reason: d.Reason, Ref: d.Ref, Question: d.Ticket}
	if d.Allow {
		out.Decision = "allow"
		if d.Params != "" {
			out.Params = jsontext.Value(d.Params)
		}
	}
	return answerJSON(out)
}

// plainAllow is what most clients read.
var plainAllow = []byte(`{"decision":"allow","reason":""}`)

// answerJSON writes an answer. What is not UTF-8 becomes a replacement character, as it would for any reader.
func answerJSON(v any) []byte {
	body, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return []byte(`{"decision":"deny","reason":"The verifier could not decide. Nothing was run."}`)
	}
	return body
}

// undecided is the answer to a call whose decision ended in a panic.
var undecided = answerBody(verifier.Decision{Reason: "The verifier could not decide. Nothing was run."})

// answer200 writes an answer. Where it is known who asks, it is signed with the
// secret that signed the call, over the request's own id, so that no answer fits
// another request.
func answer200(w http.ResponseWriter, secret []byte, requestID string, body []byte) {
	if secret != nil {
		w.Header()[hmac.AnswerHeader] = []string{hmac.SignAnswer(secret, requestID, body)}
	}
	w.Header()["Cache-Control"] = []string{"no-store"}
	rc := http.NewResponseController(w)
	if err := rc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		failed(w, http.StatusInternalServerError)
		return
	}
	write(w, http.StatusOK, jsonType, body)
}
