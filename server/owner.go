package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
)

const (
	terminal    = "terminal"
	maxAnswer   = 16 << 10
	maxEdit     = maxAnswer + 2*protocol.MaxEdited // of an answer with other arguments, which are a JSON string there
	tokenPrefix = "token:"
)

// ownerAPI is what people do with their tokens: see what waits, answer, look things
// up, log in.
type ownerAPI struct{ o *Options }

// personal is a handler that knows the id of the person who asks.
type personal func(w http.ResponseWriter, r *http.Request, id string)

// only lets in those who carry a person's token.
func (a *ownerAPI) only(next personal) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		person, ok := a.o.Auth().person(r.Header)
		if !ok {
			plain(w, http.StatusUnauthorized, "The owner token is missing or wrong.\n")
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		next(w, r, tokenPrefix+person)
	}
}

// all is everything below /owner. Without a token, not even what is there can be learned.
func (a *ownerAPI) all() http.HandlerFunc {
	inside := map[string]personal{
		"GET /owner/pending": a.pending, "GET /owner/grants": a.grants, "GET /owner/sources": a.sources,
		"POST /owner/answer": a.answer, "POST /owner/reply": a.reply, "POST /owner/test": a.test,
	}
	if a.o.Login != nil {
		inside["POST /owner/login"] = a.login
	}
	return a.only(func(w http.ResponseWriter, r *http.Request, id string) {
		at := asSent(r)
		if handle, ok := inside[r.Method+" "+at]; ok {
			r.Pattern = at
			handle(w, r, id)
			return
		}
		notFound(w, a.o.Path)
	})
}

type pendingCard struct {
	Ref     string    `json:"ref"`
	Until   time.Time `json:"until"`
	Tool    string    `json:"tool"`
	Session string    `json:"session"` // the conversation's reference
	Full    bool      `json:"full"`    // all that will run can be read in short
	Short   string    `json:"short"`   // the card as a terminal shows it
	Text    string    `json:"text"`    // with every answer that can be given, and its code
	Once    string    `json:"once"`    // the handle of a key that allows once, as a button carries it
	Longer  string    `json:"longer"`  // the same for minutes
	Deny    string    `json:"deny"`    // and of one that denies
}

// keys are what `verifier watch` needs of a card: its text, and what its keys carry.
func (a *ownerAPI) keys(k *approval.Card) pendingCard {
	full, _ := channels.FullyVisible(&k.Ask)
	return pendingCard{
		Ref: k.Ref(), Until: k.Ask.Until, Tool: k.Ask.Tool, Session: k.Ask.Conversation.Ref(), Full: full,
		Short: channels.Short(k, a.o.Now()), Once: k.Handle(approval.AllowOnce),
		Longer: k.Handle(approval.AllowMinutes),
		Deny:   k.Handle(approval.DenyCall),
	}
}

// pending lists what waits.
func (a *ownerAPI) pending(w http.ResponseWriter, r *http.Request, id string) {
	cards, err := a.o.Desk.Pending(r.Context(), id)
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Paused string        `json:"paused,omitzero"` // what is, in words
		Cards  []pendingCard `json:"cards"`
	}{Paused: a.o.Pauses.Text(r.Context()), Cards: []pendingCard{}}
	one := strings.ToUpper(r.URL.Query().Get("ref")) // all there is of one card
	for _, k := range cards {
		if one != "" && k.Ref() != one {
			continue
		}
		if one != "" {
			if err := a.o.Desk.Open(r.Context(), approval.Answer{ID: id, Via: terminal}, k, false); err != nil {
				a.o.Log.WarnContext(r.Context(), "what a call writes could not be shown", "ref", k.Ref(), "err", err)
			}
		}
		p := a.keys(k)
		if p.Text = channels.Text(k, a.o.Now()); one != "" {
			p.Text = channels.All(k, a.o.Now())
		}
		out.Cards = append(out.Cards, p)
	}
	respond(w, http.StatusOK, out)
}

// answer takes a yes or a no to a card named by its reference, or a key that was pressed: its handle says for what.
func (a *ownerAPI) answer(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Ref     string `json:"ref"`
		Tool    string `json:"tool"`
		Allow   bool   `json:"allow"`
		Minutes int    `json:"minutes"`
		Turn    bool   `json:"turn"`
		Same    bool   `json:"same"`
		Exactly bool   `json:"exactly"`
		Reason  string `json:"reason"`
		With    string `json:"with"`    // the arguments that it is to run with instead
		Confirm string `json:"confirm"` // what the answer said before that a change comes to: it counts then
		Handle  string `json:"handle"`
	}
	if !decodeWithin(r, maxEdit, &in) || in.Minutes < 0 || in.Minutes > 0 && in.Turn || in.Same && in.Exactly ||
		in.Handle != "" && (in.Allow || in.With != "") || in.With != "" && !in.Allow {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The answer could not be read."})
		return
	}
	target := approval.AnyCall
	if in.Same {
		target = approval.Same
	} else if in.Exactly {
		target = approval.Exactly
	}
	o, err := a.o.Desk.Answer(r.Context(), approval.Answer{
		ID: id, Via: terminal, Ref: in.Ref, Tool: in.Tool, Allow: in.Allow, Reason: in.Reason, Handle: in.Handle,
		Params: in.With, Confirm: in.Confirm,
		Scope: approval.Scope{Target: target, Minutes: in.Minutes, Turn: in.Turn},
	})
	a.outcome(w, r, o, err)
}

// reply takes a typed line.
func (a *ownerAPI) reply(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Text string `json:"text"`
	}
	if !decodeBody(r, &in) || in.Text == "" {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The reply could not be read."})
		return
	}
	o, err := a.o.Desk.Answer(r.Context(), approval.Answer{ID: id, Via: terminal, Text: in.Text})
	a.outcome(w, r, o, err)
}

func decodeBody(r *http.Request, into any) bool { return decodeWithin(r, maxAnswer, into) }

func decodeWithin(r *http.Request, most int, into any) bool {
	body, err := readBody(r, most)
	return err == nil && json.Unmarshal(body, into, json.RejectUnknownMembers(true)) == nil
}

type outcomeBody struct {
	Kind    string `json:"kind"`
	State   string `json:"state,omitzero"`
	Text    string `json:"text"`
	Confirm string `json:"confirm,omitzero"` // said again with it, an answer with other arguments counts
}

var kinds = map[approval.Kind]string{
	approval.Ignored: "ignored", approval.Counted: "counted", approval.TooLate: "too late", approval.Unauthorised: "unauthorised",
	approval.NotFound: "not found", approval.Locked: "locked", approval.Misunderstood: "misunderstood", approval.Replied: "told",
	approval.Shown: "shown", approval.WantsConfirm: "wants the same again",
}

var statuses = map[approval.Kind]int{
	approval.Counted: http.StatusOK, approval.Replied: http.StatusOK, approval.TooLate: http.StatusConflict,
	approval.Unauthorised: http.StatusForbidden, approval.NotFound: http.StatusNotFound, approval.Locked: http.StatusTooManyRequests,
	approval.Misunderstood: http.StatusUnprocessableEntity, approval.Ignored: http.StatusUnprocessableEntity,
	approval.Shown: http.StatusOK, approval.WantsConfirm: http.StatusUnprocessableEntity,
}

func (a *ownerAPI) outcome(w http.ResponseWriter, r *http.Request, o approval.Outcome, err error) {
	if err != nil {
		a.o.Log.ErrorContext(r.Context(), "an answer could not be taken", "err", err)
		respond(w, http.StatusServiceUnavailable, outcomeBody{Kind: kinds[approval.Ignored], Text: o.Text})
		return
	}
	if o.Kind == approval.Ignored {
		o.Text = "That is not a command. `.help` lists them."
	}
	body := outcomeBody{Kind: kinds[o.Kind], State: o.State.String(), Text: o.Text}
	if o.Kind == approval.WantsConfirm && o.Edit != nil {
		body.Confirm = o.Edit.Ask.Digest
	}
	respond(w, statuses[o.Kind], body)
}

func (a *ownerAPI) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, approval.ErrNotApprover) {
		respond(w, http.StatusForbidden, outcomeBody{Kind: kinds[approval.Unauthorised], Text: approval.NotAuthorised + "."})
		return
	}
	a.o.Log.ErrorContext(r.Context(), "the open questions could not be listed", "err", err)
	respond(w, http.StatusServiceUnavailable, outcomeBody{Kind: kinds[approval.Ignored], Text: "The store can't be reached. Try again."})
}

func respond(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // these are our own types
	}
	write(w, status, jsonType, body)
}

type probedChannel struct {
	Channel string `json:"channel"`
	Who     string `json:"who,omitzero"`
	Error   string `json:"error,omitzero"`
	Deaf    string `json:"deaf,omitzero"`
	Asked   bool   `json:"asked"`
	Sent    bool   `json:"sent"`
}

// saidHello is a runtime whose plugin has said that it is loaded.
type saidHello struct {
	Name  string `json:"name"`
	Text  string `json:"text,omitzero"`
	Fault string `json:"fault,omitzero"`
}

// test asks each channel how it is doing, and shows a card on it if the owner
// wants to see one.
func (a *ownerAPI) test(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Send bool `json:"send"`
	}
	if !decodeBody(r, &in) {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The request could not be read."})
		return
	}
	probed, err := a.o.Desk.Probe(r.Context(), id, in.Send)
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Channels []probedChannel `json:"channels"`
		Runtimes []saidHello     `json:"runtimes"`
	}{Channels: []probedChannel{}, Runtimes: []saidHello{}}
	if a.o.Runtimes != nil {
		for _, r := range a.o.Runtimes() {
			good, fault := r.Says(a.o.Now())
			out.Runtimes = append(out.Runtimes, saidHello{r.Name, good, fault})
		}
	}
	for _, p := range probed {
		one := probedChannel{p.Channel, p.Who, said(p.Err), said(p.ListenErr), p.Asked, p.Sent}
		out.Channels = append(out.Channels, one)
	}
	respond(w, http.StatusOK, out)
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Login makes a login link for the owner's page, good once: its path and query.
type Login func(ctx context.Context, person string, viewer bool) (path string, until time.Time, err error)

// Enrol makes a link by which a person adds a passkey, good once: its path and query.
type Enrol func(ctx context.Context, person string) (path string, until time.Time, err error)

// ownerName is the one who may invite others.
const ownerName = "owner"

// pageRoot is where the owner's page is.
const pageRoot = "/page/"

// toPage sends those who open the server's address in a browser to the page.
func toPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", pageRoot)
	w.WriteHeader(http.StatusSeeOther)
}

// login gives a person with a token a link to log in with, or one to add a passkey with. The owner may have one made for somebody else,
// who has no token: it adds a passkey and does nothing more.
func (a *ownerAPI) login(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Viewer  bool   `json:"viewer"`
		Passkey bool   `json:"passkey"`
		For     string `json:"for"`
	}
	if !decodeBody(r, &in) || in.For != "" && !in.Passkey || in.Passkey && in.Viewer {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: "misunderstood", Text: "The request could not be read."})
		return
	}
	ctx := r.Context()
	person := strings.TrimPrefix(id, tokenPrefix)
	if in.For != "" && in.For != person {
		if person != ownerName {
			respond(w, http.StatusForbidden, outcomeBody{Kind: "unauthorised", Text: "Only the owner invites others."})
			return
		}
		person = in.For
	}
	var path string
	var until time.Time
	var err error
	if in.Passkey {
		path, until, err = a.o.Enrol(ctx, person)
	} else {
		path, until, err = a.o.Login(ctx, person, in.Viewer)
	}
	if err != nil {
		a.o.Log.WarnContext(ctx, "no link could be made", "err", err)
		respond(w, http.StatusServiceUnavailable, outcomeBody{Kind: "ignored", Text: "No link could be made. It needs a person who is among the approvers and may log in."})
		return
	}
	respond(w, http.StatusOK, struct {
		Path  string    `json:"path"`
		Until time.Time `json:"until"`
	}{path, until})
}

// Graph draws a turn by any of its names; the error is provenance.ErrUnknown where the record has none.
type Graph func(ctx context.Context, name string) (*provenance.Graph, error)

// graph shows a turn to the owner. It says what the policy thinks of each call,
// so a client's secret does not open it.
func (a *ownerAPI) graph(w http.ResponseWriter, r *http.Request, _ string) {
	draw, known := formats[r.URL.Query().Get("format")]
	if !known {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The format must be json or text."})
		return
	}
	ctx := r.Context()
	g, err := a.o.Graph(ctx, r.PathValue("name"))
	switch {
	case errors.Is(err, provenance.ErrUnknown):
		respond(w, http.StatusNotFound, outcomeBody{Kind: kinds[approval.NotFound], Text: "No turn is remembered under this name."})
		return
	case err != nil:
		a.o.Log.ErrorContext(ctx, "a turn could not be read", "err", err)
		respond(w, http.StatusServiceUnavailable, outcomeBody{Kind: kinds[approval.Ignored],
			Text: "The record can't be read. Try again."})
		return
	}
	body, kind, err := draw(g)
	if err != nil {
		a.o.Log.ErrorContext(ctx, "a turn could not be drawn", "err", err)
		failed(w, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	write(w, http.StatusOK, kind, body)
}

// formats are how a turn can be drawn.
var formats = map[string]func(g *provenance.Graph) (body []byte, kind string, err error){
	"": asJSON, "json": asJSON,
	"text": func(g *provenance.Graph) ([]byte, string, error) {
		return []byte(g.Text()), textType, nil
	},
}

func asJSON(g *provenance.Graph) ([]byte, string, error) {
	body, err := json.Marshal(g, jsontext.WithIndent("  "))
	return body, jsonType, err
}
