package server

import (
	"context"
	"net/http"
	"strings"
	"time"
)

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
