package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// hookTimeout is how long a call of a chat service may take, so that a slow one
// ends before the service gives up.
const hookTimeout = 40 * time.Second

// hook lets a handler of another package take calls, within bounds of time.
func (*Server) hook(h http.Handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		rc := http.NewResponseController(c.Response().Writer)
		for _, err := range []error{rc.SetReadDeadline(time.Now().Add(bodyTimeout)), rc.SetWriteDeadline(time.Now().Add(hookTimeout))} {
			if err != nil && !errors.Is(err, http.ErrNotSupported) {
				return err
			}
		}
		c.Response().Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(c.Response(), c.Request())
		if err := rc.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil
	}
}
