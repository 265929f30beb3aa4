package server

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
)

// typedAnswers take a line each that someone typed into the runtime's own chat, under
// the rules of a call. The desk decides whether that person may; what is decided here
// is whether the runtime's word for who it was is taken at all.
func (s *Server) typedAnswers() http.HandlerFunc {
	return s.take(signed{
		what: "message", size: "16 KiB", drain: maxDrain, read: within(maxAnswer), decode: s.decodeTyped,
		unread: func(_ *http.Request, reason string) []byte {
			return typedBody(approval.Outcome{Kind: approval.Misunderstood, Text: reason})
		},
		crashed: func(*http.Request) []byte { return typedBody(approval.Outcome{}) },
	})
}

// decodeTyped reads a line that someone typed.
func (s *Server) decodeTyped(_ *http.Request, from caller, body []byte) (message, error) {
	call, text, err := protocol.DecodeText(body, maxAnswer)
	return message{
		call: &call,
		accept: func(w http.ResponseWriter, r *http.Request) {
			answer200(w, from.secret, call.RequestID, typedBody(s.typed(r.Context(), &call, text)))
		},
		refuse: func(ctx context.Context, err error) []byte {
			s.o.Log.WarnContext(ctx, "a relayed answer was refused", "client", from.client, "err", err)
			return typedBody(approval.Outcome{Kind: approval.Misunderstood, Text: refused(err).reason})
		},
	}, err
}

const (
	noRelay   = "verifier takes no answers from this chat. Answer where it asked you."
	noGroup   = "verifier takes no answers from a group here. Answer where it asked you."
	noPerson  = "We don't know who typed this, so verifier does not take it. Answer where it asked you."
	noOutcome = "verifier could not finish this. Look where it asked you whether it counted."
)

// typed passes a line on to the desk, if its sender may be believed.
func (s *Server) typed(ctx context.Context, call *protocol.Call, text string) approval.Outcome {
	platform := call.Context.MessageProvider
	if why := s.unbelieved(call); why != "" {
		s.o.Log.WarnContext(ctx, "a relayed answer was refused", "client", call.Client, "platform", platform, "why", why)
		return approval.Outcome{Kind: approval.Unauthorised, Text: why}
	}
	o, err := s.o.Desk.Answer(ctx, approval.Answer{
		ID: platform + ":" + call.Context.SenderID, Via: platform + " through " + call.Client, Text: text,
		Carrier: &approval.Carrier{
			Conversation: store.Name{Client: call.Client, Key: call.Context.SessionKey},
			Request:      call.RequestID, Keep: 2*s.o.Tolerance() + time.Minute,
		},
	})
	if err != nil {
		s.o.Log.ErrorContext(ctx, "a relayed answer could not be taken", "err", err)
	}
	return o
}

// unbelieved says why the named sender of a message is not believed: the owner
// has not switched it on for this client and this platform, others are there,
// or it was no person who wrote it.
func (s *Server) unbelieved(call *protocol.Call) string {
	x := &call.Context
	switch {
	case s.o.Relays == nil || !s.o.Relays(call.Client, x.MessageProvider):
		return noRelay
	case x.GroupID != "" || policy.IsGroup(x.SessionKey):
		return noGroup
	case x.SenderID == "" || x.SpawnedBy != "" || x.Trigger != "" || policy.IsHook(x.SessionKey):
		return noPerson
	case x.InputProvenance.Kind != "" && x.InputProvenance.Kind != "external_user":
		return noPerson
	}
	return ""
}

// typedBody says what became of a line. It has no state, which the channels use: it goes to a chat
// that the agent can write to.
func typedBody(o approval.Outcome) []byte {
	o.Text = cmp.Or(o.Text, noOutcome)
	return answerJSON(struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}{kinds[o.Kind], o.Text})
}
