package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Login makes a login link for the owner's page, good once: its path and query.
type Login func(ctx context.Context, person string, viewer bool) (path string, until time.Time, err error)

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

// login gives whoever has a token a link to log in with.
func (s *Server) login(c echo.Context) error {
	var in struct {
		Viewer bool `json:"viewer"`
	}
	if !s.decode(c, &in) {
		return respond(c, http.StatusUnprocessableEntity, outcomeBody{Kind: "misunderstood", Text: "The request could not be read."})
	}
	person, _ := s.o.Auth().person(c.Request().Header)
	path, until, err := s.o.Login(c.Request().Context(), person, in.Viewer)
	if err != nil {
		return respond(c, http.StatusServiceUnavailable, outcomeBody{Kind: "ignored", Text: "No link could be made."})
	}
	return respond(c, http.StatusOK, struct {
		Path  string    `json:"path"`
		Until time.Time `json:"until"`
	}{path, until})
}
