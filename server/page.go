package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Login makes a login link for the owner's page, good once: its path and query.
type Login func(ctx context.Context, person string, viewer bool) (path string, until time.Time, err error)

// Enrol makes a link by which a person adds a passkey, good once: its path and query.
type Enrol func(ctx context.Context, person string) (path string, until time.Time, err error)

// ownerName is the one who may invite others.
const ownerName = "owner"

// pageRoot is where the owner's page stands.
const pageRoot = "/page/"

// mountPage lets the page answer below its root; whoever opens the server's
// address in a browser is sent there.
func (s *Server) mountPage(e *echo.Echo) {
	if s.o.Page == nil {
		return
	}
	there := func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, pageRoot) }
	e.GET("/", there)
	e.GET("/page", there)
	e.Any(pageRoot+"*", echo.WrapHandler(s.o.Page))
}

// login gives a person with a token a link to log in with, or one to add a passkey with. The owner may have one made for somebody else,
// who has no token: it adds a passkey and does nothing more.
func (s *Server) login(c echo.Context) error {
	var in struct {
		Viewer  bool   `json:"viewer"`
		Passkey bool   `json:"passkey"`
		For     string `json:"for"`
	}
	if !s.decode(c, &in) || in.For != "" && !in.Passkey || in.Passkey && in.Viewer {
		return respond(c, http.StatusUnprocessableEntity, outcomeBody{Kind: "misunderstood", Text: "The request could not be read."})
	}
	ctx := c.Request().Context()
	person, _ := s.o.Auth().person(c.Request().Header)
	if in.For != "" && in.For != person {
		if person != ownerName {
			return respond(c, http.StatusForbidden, outcomeBody{Kind: "unauthorised", Text: "Only the owner invites others."})
		}
		person = in.For
	}
	var path string
	var until time.Time
	var err error
	if in.Passkey {
		path, until, err = s.o.Enrol(ctx, person)
	} else {
		path, until, err = s.o.Login(ctx, person, in.Viewer)
	}
	if err != nil {
		s.o.Log.WarnContext(ctx, "no link could be made", "err", err)
		return respond(c, http.StatusServiceUnavailable, outcomeBody{Kind: "ignored", Text: "No link could be made. It needs a person who is among the approvers and may log in."})
	}
	return respond(c, http.StatusOK, struct {
		Path  string    `json:"path"`
		Until time.Time `json:"until"`
	}{path, until})
}
