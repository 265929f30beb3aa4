package web

import (
	"net/http"
)

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
