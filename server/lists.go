package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
)

type openGrant struct {
	Ref     string    `json:"ref"` // of the card it was given on
	Tool    string    `json:"tool"`
	Only    string    `json:"only,omitzero"` // which calls of the tool, in words; empty: all
	Agent   string    `json:"agent"`
	Session string    `json:"session"` // the conversations in which it holds
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
	open, _, err := a.o.Grants.List(r.Context())
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Grants []openGrant `json:"grants"`
	}{[]openGrant{}}
	for i := range open {
		g := &open[i]
		out.Grants = append(out.Grants, openGrant{
			Ref: codes.Ref(g.ID), Tool: g.Tool, Only: strings.TrimSpace(approval.Only(g)), Agent: g.Agent,
			Session: approval.Holds(g), Level: g.Level.String(), Until: g.Until, Run: g.Run != "",
			By: strings.Join(g.By, ", "),
		})
	}
	respond(w, http.StatusOK, out)
}

// knownCause is what made a conversation worse.
type knownCause struct {
	What  string    `json:"what"`
	Level string    `json:"level"`
	At    time.Time `json:"at"`
}

// sources lists what came into a conversation.
func (a *ownerAPI) sources(w http.ResponseWriter, r *http.Request, id string) {
	if !a.o.Desk.Lists(id) {
		a.unavailable(w, r, approval.ErrNotApprover)
		return
	}
	c, err := a.o.Desk.Sources(r.Context(), r.URL.Query().Get("ref"))
	switch {
	case errors.Is(err, store.ErrUnknown), errors.Is(err, store.ErrAmbiguous):
		const text = "No conversation has this reference, or several do."
		respond(w, http.StatusNotFound, outcomeBody{Kind: kinds[approval.NotFound], Text: text})
		return
	case err != nil:
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Session string       `json:"session"`
		Level   string       `json:"level"`
		Sources []knownCause `json:"sources"`
	}{c.Ref(), c.Worst().String(), []knownCause{}}
	for _, k := range c.Causes {
		out.Sources = append(out.Sources, knownCause{k.What, k.Level.String(), k.At})
	}
	respond(w, http.StatusOK, out)
}
