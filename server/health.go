package server

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Check is one thing the server needs, and what is wrong with it.
type Check struct {
	Name          string
	Err           error
	Informational bool // a fault is shown, and the server is ready all the same
}

const healthBudget = 400 * time.Millisecond

// healthz says that the process answers.
func healthz(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

// readyz says whether calls can be decided, and if not, what is missing.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthBudget)
	defer cancel()
	status, lines := http.StatusOK, strings.Builder{}
	if s.o.Health != nil {
		for _, check := range s.o.Health(ctx) {
			if check.Err != nil {
				if !check.Informational {
					status = http.StatusServiceUnavailable
				}
				lines.WriteString(check.Name + ": " + check.Err.Error() + "\n")
				continue
			}
			lines.WriteString(check.Name + ": ok\n")
		}
	}
	plain(w, status, lines.String())
}
