package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/codes"
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
func (s *Server) grants(c echo.Context) error {
	if !s.o.Desk.Listed(id(c)) {
		return s.unavailable(c, approval.ErrNotApprover)
	}
	open, err := s.o.Desk.Grants(c.Request().Context(), "")
	if err != nil {
		return s.unavailable(c, err)
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
	return respond(c, http.StatusOK, out)
}

type knownSource struct {
	Number   int64     `json:"number"`
	Label    string    `json:"label"`
	Level    string    `json:"level"`
	Fixed    bool      `json:"fixed"` // nobody can vouch for it
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Endorsed bool      `json:"endorsed"` // the owner vouches for it
}

// sources lists what came into a conversation.
func (s *Server) sources(c echo.Context) error {
	if !s.o.Desk.Listed(id(c)) {
		return s.unavailable(c, approval.ErrNotApprover)
	}
	account, err := s.o.Desk.Sources(c.Request().Context(), c.QueryParam("ref"))
	switch {
	case errors.Is(err, approval.ErrUnknown), errors.Is(err, approval.ErrAmbiguous):
		return respond(c, http.StatusNotFound, outcomeBody{Kind: kinds[approval.NotFound], Text: "No conversation has this reference, or several do."})
	case err != nil:
		return s.unavailable(c, err)
	}
	out := struct {
		Session string        `json:"session"`
		Level   string        `json:"level"`
		Sources []knownSource `json:"sources"`
	}{account.Conversation.Ref(), account.Level.String(), []knownSource{}}
	for i := range account.Influences {
		one := &account.Influences[i]
		out.Sources = append(out.Sources, knownSource{one.Number, one.Label, one.Level.String(), one.Fixed, one.First, one.Last, !one.Endorsed.IsZero()})
	}
	return respond(c, http.StatusOK, out)
}
