package web

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Limits of a request.
const (
	maxForm      = 16 << 10
	readTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second
)

// contentPolicy lets in our own files and nothing else: no inline script or
// style, no frame, no other origin.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers go with every answer. The referrer stays within the origin; without
// one, browsers would not say where a form comes from.
var headers = map[string]string{
	"Content-Security-Policy":      contentPolicy,
	"Referrer-Policy":              "same-origin",
	"Cache-Control":                "no-store",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"X-Robots-Tag":                 "noindex, nofollow",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

// guarded is what every request passes before anything of it is looked at.
func (s *site) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := deadlines(w, time.Now()); err != nil {
			s.o.Log.WarnContext(r.Context(), "the page can't limit a request in time", "err", err)
			http.Error(w, "The page can't answer now.", http.StatusInternalServerError)
			return
		}
		defer http.NewResponseController(w).SetWriteDeadline(time.Time{}) //nolint:errcheck // the connection may be gone
		switch {
		case !s.ours(r):
			http.Error(w, "This page is not served under that name. If it is yours, set web.url in the config.", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !fromHere(r):
			http.Error(w, "That did not come from this page. Nothing was changed.", http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, formLimit(r))
			next.ServeHTTP(w, r)
		}
	})
}

// formLimit is how large a form may be: one with changed arguments is longer than an answer.
func formLimit(r *http.Request) int64 {
	switch r.URL.Path {
	case Root + "answer", Root + "edit": // it may hold arguments, which a form makes three times as long
		return maxForm + 3*protocol.MaxEdited
	}
	return maxForm
}

// deadlines bound a request in time. Where there is no connection there is
// nothing to bound.
func deadlines(w http.ResponseWriter, now time.Time) error {
	rc := http.NewResponseController(w)
	for _, err := range []error{rc.SetReadDeadline(now.Add(readTimeout)), rc.SetWriteDeadline(now.Add(writeTimeout))} {
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

// ours reports whether a request names us: by an address, which no one can make
// point elsewhere, by a certificate that the browser has checked, or by the name
// that the owner has configured.
func (s *site) ours(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || strings.EqualFold(host, "localhost") || r.TLS != nil {
		return true
	}
	return s.o.URL != nil && strings.EqualFold(host, s.o.URL.Hostname())
}

// fromHere reports whether a browser says that this very origin sends the
// request. One that says nothing is not believed.
func fromHere(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) != 1 || site != "" && site != "same-origin" {
		return false
	}
	from, err := url.Parse(origins[0])
	return err == nil && (from.Scheme == "https" || from.Scheme == "http" && r.TLS == nil) && from.Host != "" && strings.EqualFold(from.Host, r.Host)
}

// sessionHeader carries the session. Only the page's script can set it: a form, a
// picture or a frame of another origin can't, and a fetch from there would need a
// leave that is never given.
const sessionHeader = "X-Verifier-Session"

// member is someone who is logged in.
type member struct {
	ticket
	Approver bool
}

// id is who answers, as the desk knows people. A person who may only look has one
// that no list holds.
func (m *member) id() string {
	if m.Viewer {
		return "viewer:" + m.Person
	}
	return keyOwner(m.Person)
}

// sessions know who sends a request, and let in people who may do what it asks.
type sessions struct {
	*site
	*tickets
}

// session opens the ticket that a request carries. It asks no store: whether the
// session was ended by a logout is another question.
func (s *sessions) session(r *http.Request) (ticket, bool) {
	values := r.Header.Values(sessionHeader)
	if len(values) != 1 {
		return ticket{}, false
	}
	return s.read(forSession, values[0])
}

// valid reports whether the session is still one of somebody with this token.
func (s *sessions) valid(r *http.Request) bool {
	_, ok := s.session(r)
	return ok
}

// who finds the member behind a request; nil if there is none.
func (s *sessions) who(r *http.Request) (*member, error) {
	t, ok := s.session(r)
	if !ok {
		return nil, nil
	}
	lives, err := s.lives(r.Context(), forSession, t.ID, s.o.Session)
	if err != nil || !lives {
		return nil, err
	}
	ended, err := s.counts.Count(r.Context(), "page-out:"+t.ID, s.o.Session, false)
	if err != nil || ended > 0 {
		return nil, err
	}
	m := &member{ticket: t}
	m.Approver = s.o.Desk.Lists(m.id())
	return m, nil
}

type memberHandler func(w http.ResponseWriter, r *http.Request, m *member)

// fresh is a view that says nothing of an answer before it.
func fresh(draw func(w http.ResponseWriter, r *http.Request, m *member, s said)) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, m *member) { draw(w, r, m, said{}) }
}

// view is what an address shows. Every browser that opens it gets the shell;
// the shell's script asks again, with the session.
func (s *sessions) view(next memberHandler) http.Handler {
	member := s.member(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values(sessionHeader)) == 0 {
			s.shell(w, r)
			return
		}
		member.ServeHTTP(w, r)
	})
}

// member lets in people who are logged in. A form that can't be read is refused:
// what is missing in it must not count as left out.
func (s *sessions) member(next memberHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := s.who(r)
		switch {
		case err != nil:
			s.o.Log.ErrorContext(r.Context(), "the page could not look up a session", "err", err)
			http.Error(w, "The store can't be reached. Nothing was changed; try again.", http.StatusServiceUnavailable)
		case m == nil:
			http.Error(w, "You are not logged in. Nothing was changed.", http.StatusUnauthorized)
		case r.ParseForm() != nil:
			http.Error(w, "The form is too long or broken. Nothing was changed.", http.StatusBadRequest)
		default:
			next(w, r, m)
		}
	})
}

// approver lets in people who may answer. The desk checks it once more.
func (s *sessions) approver(next memberHandler) http.Handler {
	return s.member(func(w http.ResponseWriter, r *http.Request, m *member) {
		if !m.Approver {
			http.Error(w, "You may look and not answer. Nothing was changed.", http.StatusForbidden)
			return
		}
		next(w, r, m)
	})
}
