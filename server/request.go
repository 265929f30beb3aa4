package server

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// RequestIDHeader carries the id of an HTTP request back to its sender. It
// is drawn here, unless a trusted proxy has given the request one: what anyone
// else sends under this name is not read.
const RequestIDHeader = "X-Request-Id"

// requestKey asks a context for the id of its request.
type requestKey struct{}

// identity is a request's context with its id, in one piece: it is made for
// every call.
type identity struct {
	context.Context
	id string
}

func (i *identity) Value(key any) any {
	if _, ok := key.(requestKey); ok {
		return i.id
	}
	return i.Context.Value(key)
}

var idAlphabet = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// plainID is what is taken over into the log and the answer.
var plainID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

func (s *Server) requestID(r *http.Request) string {
	if given := r.Header[RequestIDHeader]; len(given) > 0 && plainID.MatchString(given[0]) && s.trusts(remote(r)) {
		return given[0]
	}
	var b [10]byte
	rand.Read(b[:]) // it never fails
	return idAlphabet.EncodeToString(b[:])
}

// identified gives every request an id.
func (s *Server) identified(next func(*response, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		id, from := s.requestID(r), r.Context()
		w.Header()[RequestIDHeader] = []string{id}
		next(&response{ResponseWriter: w, status: http.StatusOK}, r.WithContext(&identity{from, id}))
	})
}

// guarded calls the handler: a panic ends here, and at debug level every request
// is logged.
func (s *Server) guarded(w *response, r *http.Request, handle http.HandlerFunc) {
	started := time.Now()
	func() {
		defer s.recovered(w, r, func() { failed(w, http.StatusInternalServerError) })
		handle(w, r)
	}()
	if s.debugs(r.Context()) {
		s.answered(r.Context(), r.Pattern, w.status, started, s.Peer(r))
	}
}

// recovered is deferred: it turns a panic of a handler into an answer, unless one
// has begun.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request, answer func()) {
	p := recover()
	if p == nil {
		return
	}
	s.o.Log.ErrorContext(r.Context(), "a request ended in a panic", "path", r.Pattern, "panic", text.Panic(p))
	if begun, ok := w.(*response); !ok || !begun.written {
		answer()
	}
}

func (s *Server) debugs(ctx context.Context) bool { return s.o.Log.Enabled(ctx, slog.LevelDebug) }

// answered names the route and not the URL, which could hold anything.
func (s *Server) answered(ctx context.Context, route string, status int, started time.Time, peer string) {
	s.o.Log.DebugContext(ctx, "a request was answered", "route", route, "status", status, "ms", float64(time.Since(started).Microseconds())/1000, "peer", peer)
}

// WithRequestIDs is a log handler that adds, as rid, the id of the HTTP request
// that a line is about.
func WithRequestIDs(h slog.Handler) slog.Handler { return identifier{h} }

type identifier struct{ slog.Handler }

func (h identifier) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		r.AddAttrs(slog.String("rid", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h identifier) WithAttrs(attrs []slog.Attr) slog.Handler {
	return identifier{h.Handler.WithAttrs(attrs)}
}

func (h identifier) WithGroup(name string) slog.Handler { return identifier{h.Handler.WithGroup(name)} }

// maxHops is how many proxies one behind the other are followed.
const maxHops = 16

// Peer is the address a request comes from: the connection's, unless that is a
// trusted proxy's; then the last one in X-Forwarded-For that is not. What is
// before it, anyone could have written.
func (s *Server) Peer(r *http.Request) string {
	at := remote(r)
	if !s.trusts(at) {
		return at.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	slices.Reverse(hops)
	for _, hop := range hops[:min(len(hops), maxHops)] {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break // the proxy before it could not say
		}
		at = next.Unmap().WithZone("")
		if !s.trusts(at) {
			break
		}
	}
	return at.String()
}

// remote is the other end of the connection.
func remote(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

func (s *Server) trusts(at netip.Addr) bool {
	return at.IsValid() && slices.ContainsFunc(s.o.Proxies(), func(p netip.Prefix) bool { return p.Contains(at) })
}

// response notes what became of an answer.
type response struct {
	http.ResponseWriter
	status  int  // 200 until another one is written
	written bool // at least its header
}

// WriteHeader takes the first status: the answer to a panic comes too late where a
// handler has begun its own.
func (w *response) WriteHeader(status int) {
	if !w.written {
		w.status, w.written = status, true
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

const (
	jsonType = "application/json"
	textType = "text/plain; charset=UTF-8"
)

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header()["Content-Type"] = []string{kind}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that has gone needs no answer
}

func plain(w http.ResponseWriter, status int, text string) { write(w, status, textType, []byte(text)) }

// failed answers with a status and its name.
func failed(w http.ResponseWriter, status int) { plain(w, status, http.StatusText(status)+"\n") }
