package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
)

type openGrant struct {
	Ref     string    `json:"ref"` // of the card it was given on
	Tool    string    `json:"tool"`
	Only    string    `json:"only,omitzero"` // which calls of the tool, in words; empty: all
	Agent   string    `json:"agent"`
	Session string    `json:"session"` // the conversation's reference
	Level   string    `json:"level"`   // it ends when the conversation gets worse than this
	Until   time.Time `json:"until"`
	Run     bool      `json:"run"` // it ends with the run at the latest
	By      string    `json:"by"`
}

// grants lists what runs without asking.
func (a *ownerAPI) grants(w http.ResponseWriter, r *http.Request, id string) {
	if !a.o.Desk.Lists(id) {
		a.unavailable(w, r, approval.ErrNotApprover)
		return
	}
	open, err := a.o.Rooms.Grants.List(r.Context())
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Grants []openGrant `json:"grants"`
		More   bool        `json:"more"` // there are more than these
	}{Grants: []openGrant{}, More: open.More}
	for i := range open.Grants {
		g := &open.Grants[i]
		out.Grants = append(out.Grants, openGrant{
			Ref: codes.Ref(g.ID), Tool: g.Tool, Only: strings.TrimSpace(approval.LikeOnly(g)), Agent: g.Agent,
			Session: g.Conversation.Ref(), Level: g.Level.String(), Until: g.Until, Run: g.Run != "", By: g.By,
		})
	}
	respond(w, http.StatusOK, out)
}

type knownSource struct {
	Label string    `json:"label"`
	Level string    `json:"level"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

type knownSources struct {
	Session string        `json:"session"`
	Level   string        `json:"level"`
	Sources []knownSource `json:"sources"`
}

func sourcesOf(a *session.Account) knownSources {
	out := knownSources{a.Conversation.Ref(), a.Level.String(), []knownSource{}}
	for i := range a.Influences {
		one := &a.Influences[i]
		out.Sources = append(out.Sources, knownSource{one.Label, one.Level.String(), one.First, one.Last})
	}
	return out
}

// sources lists what came into a conversation, or, without a reference, the scheduled jobs that come from outside content.
func (a *ownerAPI) sources(w http.ResponseWriter, r *http.Request, id string) {
	if !a.o.Desk.Lists(id) {
		a.unavailable(w, r, approval.ErrNotApprover)
		return
	}
	ref := r.URL.Query().Get("ref")
	if ref == "" {
		a.jobs(w, r)
		return
	}
	account, err := a.o.Rooms.Sources.Of(r.Context(), ref)
	switch {
	case errors.Is(err, approval.ErrUnknown), errors.Is(err, approval.ErrAmbiguous):
		respond(w, http.StatusNotFound, outcomeBody{Kind: kinds[approval.NotFound], Text: "No conversation has this reference, or several do."})
		return
	case err != nil:
		a.unavailable(w, r, err)
		return
	}
	respond(w, http.StatusOK, sourcesOf(&account))
}

func (a *ownerAPI) jobs(w http.ResponseWriter, r *http.Request) {
	all, err := a.o.Rooms.Sources.Jobs(r.Context())
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Jobs []knownSources `json:"jobs"`
	}{[]knownSources{}}
	for i := range all {
		out.Jobs = append(out.Jobs, sourcesOf(&all[i]))
	}
	respond(w, http.StatusOK, out)
}
