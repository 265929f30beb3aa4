package server

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
)

// hookTimeout is how long a call of a chat service may take, so that a slow one
// ends before the service gives up.
const hookTimeout = 40 * time.Second

// reserved are the doors that do not depend on where calls are posted.
var reserved = []string{"/owner", "/page", "/api", "/healthz", "/readyz", "/metrics"}

// HookProblem says why chat services can't be told to call at a path, where calls
// are posted to another: a handler there would stand before one of the server's
// own. It is empty if they can.
func HookProblem(calls, at string) string {
	if !strings.HasPrefix(at, "/") || at == "/" || path.Clean(at) != at || strings.ContainsAny(at, "?#*:% \t\\") {
		return "is not a plain path"
	}
	within := func(door string) bool { return at == door || strings.HasPrefix(at, door+"/") }
	dir, event := path.Split(at)
	isEvent := path.Clean(dir) == beside(calls, "hooks") && loop.Name(event).Known()
	if at == calls || at == beside(calls, "approve") || at == beside(calls, "answered") || isEvent || slices.ContainsFunc(reserved, within) {
		return "is one of the server's own"
	}
	return ""
}

// hook lets a handler of another package take calls, within bounds of time.
func hook(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		for _, err := range []error{rc.SetReadDeadline(time.Now().Add(bodyTimeout)), rc.SetWriteDeadline(time.Now().Add(hookTimeout))} {
			if err != nil && !errors.Is(err, http.ErrNotSupported) {
				failed(w, http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
		_ = rc.SetWriteDeadline(time.Time{}) // where it fails, no request follows on this connection
	}
}
