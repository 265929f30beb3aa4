// Package server is the HTTP door: signed tool calls come in at one path, the
// owner's answers at a few others.
//
// A call that can't be authenticated gets 401 and touches nothing: no state, no
// question, no record. Everything else gets 200 with a signed decision, because
// a client that sees any other status applies its own failMode, which may be
// allow. A body that is too large, a panic and a shutdown are denies too.
//
// The package decides nothing. It reads bytes within bounds of size and time,
// checks whose secret signed them, and passes them on.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/verifier"
)

// Verifier decides calls.
type Verifier interface {
	// Verify decides a call. It may wait minutes for people, but no longer than the call can wait.
	Verify(ctx context.Context, c *protocol.Call) verifier.Decision
	Reject(ctx context.Context, c *protocol.Call, kind, reason string) verifier.Decision
}

// Desk takes the owner's answers.
type Desk interface {
	Answer(ctx context.Context, a approval.Answer) (approval.Outcome, error)
	Pending(ctx context.Context, id string) ([]*approval.Card, error)
	Open(ctx context.Context, a approval.Answer, c *approval.Card, all bool) error // shows what is hidden of its call
	Lists(id string) bool
	Probe(ctx context.Context, id string, send bool) ([]approval.Probed, error)
	Sources(ctx context.Context, ref string) (store.Conversation, error) // a conversation with what made it worse
	// Answered waits so long until questions of a client have got a late yes, and
	// gives their tickets.
	Answered(ctx context.Context, client string, tickets []string, wait time.Duration) []string
}

// Options are what a Server needs.
type Options struct {
	Path      string               // where calls come in; empty means /verify
	Auth      func() *Auth         // whose signatures and tokens count now
	Tolerance func() time.Duration // how far a call's clock may be off now; nil means 5 min
	Verifier  Verifier
	Desk      Desk
	Grants    *approval.Grants
	Pauses    *approval.Pauses
	Runtimes  func() []verifier.Runtime         // which have said hello; nil: nothing is known of any
	Loop      Loop                              // hears events; nil: none are taken
	Graph     Graph                             // draws turns; nil: none are shown
	Health    func(ctx context.Context) []Check // what /readyz looks at; nil means nothing
	Metrics   http.Handler                      // what /metrics shows; nil means nothing
	Page      http.Handler                      // the owner's page, below /page/; nil means none
	Login     Login                             // makes login links for it; nil means none
	Enrol     Enrol                             // the same for a link that adds a passkey; may be nil where Page is
	Log       *slog.Logger                      // nil discards
	Now       func() time.Time                  // nil means time.Now

	// Relays reports whether a client's word is taken now for who typed an answer
	// on a platform; nil means no.
	Relays func(client, platform string) bool
	// Certificate is what the server shows now, over TLS 1.2 or newer; nil means
	// no TLS.
	Certificate func() *tls.Certificate
	// Proxies are the peers whose word is taken for whom they speak for, now; nil
	// means none.
	Proxies func() []netip.Prefix
}

// Limits in time. A held call may take longer: its own deadline counts then.
const (
	headerTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second // of all of a request, from its first byte
	writeTimeout  = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	maxDrain      = 8 << 20 // of a body that is too large, read and thrown away
)

// DefaultTolerance is how far a call's timestamp may be off.
const DefaultTolerance = 5 * time.Minute

// Server answers on one listener. Serve it once.
type Server struct {
	o        Options
	http     *http.Server
	rejected atomic.Int64
	running  atomic.Int64  // requests
	large    chan struct{} // a place for each large body that is being read
	polls    polls
}

// New makes a server.
func New(o Options) (*Server, error) {
	if o.Auth == nil || o.Verifier == nil || o.Desk == nil {
		return nil, errors.New("server: auth, verifier and desk are all needed")
	}
	o.Path = cmp.Or(o.Path, "/verify")
	if o.Tolerance == nil {
		o.Tolerance = func() time.Duration { return DefaultTolerance }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Proxies == nil {
		o.Proxies = func() []netip.Prefix { return nil }
	}
	s := &Server{o: o, large: make(chan struct{}, largeBodies)}
	s.http = &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug), Protocols: &http.Protocols{},
	}
	// The bounds of time are those of a connection with one request at a time.
	s.http.Protocols.SetHTTP1(true)
	return s, nil
}

// Handler is the server as a handler, for tests and for embedding. How long a
// request may take to arrive is bounded where it is served.
func (s *Server) Handler() http.Handler {
	doors := s.doors()
	return s.identified(func(w *response, r *http.Request) {
		s.guarded(w, r, func(w http.ResponseWriter, r *http.Request) { s.find(doors, r)(w, r) })
	})
}

// Serve answers on a listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if s.o.Certificate != nil {
		l = tls.NewListener(l, &tls.Config{
			MinVersion:     tls.VersionTLS12,
			NextProtos:     []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.o.Certificate(), nil },
		})
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown waits for running requests until ctx ends, then cuts off all connections: browsers open some that they never
// use. The caller must end held calls first.
func (s *Server) Shutdown(ctx context.Context) error {
	left, stop := context.WithCancel(ctx)
	defer stop()
	go s.idle(left, stop)
	err := s.http.Shutdown(left)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		s.o.Log.DebugContext(ctx, "connections that were still open were cut off")
		return s.http.Close()
	}
	return err
}

// idle calls then once no request has run for a moment, in which the last answers leave.
func (s *Server) idle(ctx context.Context, then func()) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for calm := 0; calm < 12; { // longer than net/http goes on with a connection that it has answered
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if calm++; s.running.Load() > 0 {
			calm = 0
		}
	}
	then()
}

// Rejected is how many calls could not be authenticated.
func (s *Server) Rejected() int64 { return s.rejected.Load() }

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
