package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// Limits of logging in.
const (
	linkLife    = 10 * time.Minute
	tryWindow   = 10 * time.Minute
	maxTries    = 10 // wrong tokens and links from one address within the window
	cookieName  = "verifier"
	secureName  = "__Host-verifier" // browsers take it over TLS only, and from this host alone
	csrfHeader  = "X-Verifier-Csrf"
	csrfField   = "csrf"
	csrfPurpose = "page-csrf"
)

// Link makes a login link for someone with a token, good once and for ten
// minutes: the path and query of it, and until when.
func (p *Page) Link(person string, viewer bool) (path string, until time.Time, err error) {
	until = p.o.Now().Add(linkLife).Truncate(time.Second)
	text, ok := p.write(forLink, newTicket(person, viewer, until))
	if !ok {
		return "", until, errors.New("web: nobody of that name has a token")
	}
	return Root + "login?link=" + url.QueryEscape(text), until, nil
}

// member is someone who is logged in.
type member struct {
	ticket
	Approver bool
	CSRF     string
}

// id is who answers, as the desk knows people. Whoever may only look has one
// that no list holds.
func (m *member) id() string {
	if m.Viewer {
		return "viewer:" + m.Person
	}
	return "token:" + m.Person
}

// who finds the member behind a request; nil if there is none.
func (p *Page) who(r *http.Request) (*member, error) {
	name := cookieName
	if p.encrypted(r) {
		name = secureName
	}
	cookie, err := r.Cookie(name)
	if err != nil {
		return nil, nil //nolint:nilerr // no cookie, nobody
	}
	t, ok := p.read(forSession, cookie.Value)
	if !ok {
		return nil, nil
	}
	ended, err := p.o.Tries.Miss(r.Context(), "page-out:"+t.ID, p.o.Session, false)
	if err != nil || ended > 0 {
		return nil, err
	}
	m := &member{ticket: t, CSRF: p.o.Key.Seal(csrfPurpose, t.ID)}
	m.Approver = p.o.Desk.Lists(m.id())
	return m, nil
}

type memberHandler func(w http.ResponseWriter, r *http.Request, m *member)

// member lets in whoever is logged in. What changes something also carries the
// session's own token.
func (p *Page) member(next memberHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := p.who(r)
		switch {
		case err != nil:
			p.o.Log.ErrorContext(r.Context(), "the page could not look up a session", "err", err)
			http.Error(w, "The store can't be reached. Nothing was changed; try again.", http.StatusServiceUnavailable)
		case m == nil:
			p.strange(w, r)
		case r.Method == http.MethodPost && !p.meant(r, m):
			http.Error(w, "That did not come from this page, or the page is too old. Nothing was changed; load it again.", http.StatusForbidden)
		default:
			next(w, r, m)
		}
	})
}

// approver lets in whoever may answer. The desk checks it once more.
func (p *Page) approver(next memberHandler) http.Handler {
	return p.member(func(w http.ResponseWriter, r *http.Request, m *member) {
		if !m.Approver {
			http.Error(w, "You may look and not answer. Nothing was changed.", http.StatusForbidden)
			return
		}
		next(w, r, m)
	})
}

// meant reports whether a form carries the session's token, in a field or, sent
// by our script, in a header.
func (p *Page) meant(r *http.Request, m *member) bool {
	token := r.Header.Get(csrfHeader)
	if token == "" {
		token = r.PostFormValue(csrfField)
	}
	return p.o.Key.Check(token, csrfPurpose, m.ID)
}

// strange answers whoever is not logged in. A browser that comes from another
// site leaves the cookie out the first time: it is told to come again.
func (p *Page) strange(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Hx-Request") != "":
		w.Header().Set("Hx-Redirect", Root+"login")
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method != http.MethodGet || r.Header.Get("Accept") == "text/event-stream":
		http.Error(w, "You are not logged in. Nothing was changed.", http.StatusUnauthorized)
	case r.Header.Get("Sec-Fetch-Site") == "cross-site":
		p.render(w, r, http.StatusOK, "again", view{})
	default:
		http.Redirect(w, r, Root+"login", http.StatusSeeOther)
	}
}

// loginPage asks for a token, or for a tap where a link has brought one: a
// preview of the link must not use it up.
func (p *Page) loginPage(w http.ResponseWriter, r *http.Request) {
	v := loginView{Link: r.URL.Query().Get("link")}
	if v.Link != "" {
		t, ok := p.read(forLink, v.Link)
		if !ok {
			v.Link, v.Fault = "", "This link is not good any more. `verifier login` prints a new one."
		}
		v.Person, v.Viewer = t.Person, t.Viewer
	}
	p.render(w, r, http.StatusOK, "login", view{Login: v})
}

// login takes a link or a token for a session.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	from := p.o.Peer(r)
	tries, err := p.o.Tries.Miss(r.Context(), "page-login:"+from, tryWindow, false)
	if err == nil && tries >= maxTries {
		p.refuse(w, r, http.StatusTooManyRequests, "Too many wrong tries from your address. Wait ten minutes, or use another way to answer.")
		return
	}
	var t *ticket
	if err == nil {
		t, err = p.admitted(r)
	}
	if err == nil && t == nil {
		_, err = p.o.Tries.Miss(r.Context(), "page-login:"+from, tryWindow, true)
	}
	switch {
	case err != nil:
		p.o.Log.ErrorContext(r.Context(), "a login could not be taken", "err", err)
		p.refuse(w, r, http.StatusServiceUnavailable, "The store can't be reached, so nobody can log in. Try again.")
	case t == nil:
		p.o.Log.WarnContext(r.Context(), "a login was refused", "peer", from)
		p.refuse(w, r, http.StatusUnauthorized, "That is not the token, or the link was used or is too old. `verifier login` prints a new link.")
	default:
		p.enter(w, r, *t, from)
	}
}

func (p *Page) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	p.render(w, r, status, "login", view{Login: loginView{Fault: why}})
}

// admitted is whom a form proves to be; nil if it proves nothing.
func (p *Page) admitted(r *http.Request) (*ticket, error) {
	if text := r.PostFormValue("link"); text != "" {
		t, ok := p.read(forLink, text)
		if !ok {
			return nil, nil
		}
		uses, err := p.o.Tries.Miss(r.Context(), "page-link:"+t.ID, 2*linkLife, true)
		if err != nil || uses != 1 {
			return nil, err
		}
		return &t, nil
	}
	person, ok := p.o.People().Who(r.PostFormValue("token"))
	if !ok {
		return nil, nil
	}
	return &ticket{Person: person}, nil
}

// enter begins a session. It is recorded: nobody comes in unseen.
func (p *Page) enter(w http.ResponseWriter, r *http.Request, as ticket, from string) {
	t := newTicket(as.Person, as.Viewer, p.o.Now().Add(p.o.Session))
	value, ok := p.write(forSession, t)
	if err := p.note(r.Context(), &t, "logged in on the page from "+from); !ok || err != nil {
		p.refuse(w, r, http.StatusServiceUnavailable, "The record can't be written, so nobody can log in. Try again.")
		return
	}
	p.setCookie(w, r, value, t.Until)
	http.Redirect(w, r, Root, http.StatusSeeOther)
}

func (p *Page) note(ctx context.Context, t *ticket, what string) error {
	if t.Viewer {
		what += ", to look only"
	}
	err := p.o.Record.Append(audit.Entry{Kind: audit.KindNote, Note: what, People: []audit.Person{{Name: t.Person, Via: Via, At: p.o.Now().UTC()}}})
	if err != nil {
		p.o.Log.ErrorContext(ctx, "the record could not be written", "err", err)
	}
	return err
}

// logout ends a session wherever it is used.
func (p *Page) logout(w http.ResponseWriter, r *http.Request, m *member) {
	if _, err := p.o.Tries.Miss(r.Context(), "page-out:"+m.ID, p.o.Session, true); err != nil {
		p.o.Log.ErrorContext(r.Context(), "a session could not be ended", "err", err)
		http.Error(w, "The store can't be reached, so the session goes on. Try again.", http.StatusServiceUnavailable)
		return
	}
	p.live.end(m.ID)
	p.setCookie(w, r, "", time.Unix(1, 0))
	http.Redirect(w, r, Root+"login", http.StatusSeeOther)
}

func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, value string, until time.Time) {
	c := &http.Cookie{Name: cookieName, Value: value, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if p.encrypted(r) {
		c.Name, c.Secure = secureName, true
	}
	http.SetCookie(w, c)
}
