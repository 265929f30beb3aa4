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
	linkLife  = 10 * time.Minute
	tryWindow = 10 * time.Minute
	maxTries  = 10          // wrong tokens from one address within the window; each further try waits
	slowTry   = time.Second // for so long
	maxSlowed = 128         // and no more than so many at once, so that many connections guess no faster
)

// sessionHeader carries the session. Only the page's script can set it: a form, a
// picture or a frame of another origin can't, and a fetch from there would need a
// leave that is never given.
const sessionHeader = "X-Verifier-Session"

// Link makes a login link for someone with a token, good once and for ten
// minutes: its path, and until when. The secret stands behind the #, which
// browsers and previews send to nobody.
func (p *Page) Link(ctx context.Context, person string, viewer bool) (path string, until time.Time, err error) {
	until = p.o.Now().Add(linkLife).Truncate(time.Second)
	t := newTicket(person, viewer, until)
	text, ok := p.write(forLink, t)
	if !ok {
		return "", until, errors.New("web: there is no token of that name")
	}
	if err := p.issue(ctx, forLink, t.ID, linkLife); err != nil {
		return "", until, err
	}
	return Root + "login#link=" + url.QueryEscape(text), until, nil
}

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

// session opens the ticket that a request carries. It asks no store: whether the
// session was ended by a logout is another question.
func (p *Page) session(r *http.Request) (ticket, bool) {
	values := r.Header.Values(sessionHeader)
	if len(values) != 1 {
		return ticket{}, false
	}
	return p.read(forSession, values[0])
}

// valid reports whether the session is still one of somebody with this token.
func (p *Page) valid(r *http.Request) bool {
	_, ok := p.session(r)
	return ok
}

// who finds the member behind a request; nil if there is none.
func (p *Page) who(r *http.Request) (*member, error) {
	t, ok := p.session(r)
	if !ok {
		return nil, nil
	}
	lives, err := p.lives(r.Context(), forSession, t.ID, p.o.Session)
	if err != nil || !lives {
		return nil, err
	}
	ended, err := p.o.Tries.Miss(r.Context(), "page-out:"+t.ID, p.o.Session, false)
	if err != nil || ended > 0 {
		return nil, err
	}
	m := &member{ticket: t}
	m.Approver = p.o.Desk.Lists(m.id())
	return m, nil
}

type memberHandler func(w http.ResponseWriter, r *http.Request, m *member)

// view is what an address shows. A browser that opens it gets the shell, whoever
// it is; the shell's script asks again, with the session.
func (p *Page) view(next memberHandler) http.Handler {
	member := p.member(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values(sessionHeader)) == 0 {
			p.shell(w, r)
			return
		}
		member.ServeHTTP(w, r)
	})
}

// shell is the same for all: scripts, styles, a form to log in, and no data.
func (p *Page) shell(w http.ResponseWriter, r *http.Request) {
	p.render(w, r, "shell", nil)
}

// member lets in people who are logged in. A form that can't be read is refused:
// what is missing in it must not count as left out.
func (p *Page) member(next memberHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := p.who(r)
		switch {
		case err != nil:
			p.o.Log.ErrorContext(r.Context(), "the page could not look up a session", "err", err)
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
func (p *Page) approver(next memberHandler) http.Handler {
	return p.member(func(w http.ResponseWriter, r *http.Request, m *member) {
		if !m.Approver {
			http.Error(w, "You may look and not answer. Nothing was changed.", http.StatusForbidden)
			return
		}
		next(w, r, m)
	})
}

// aboutLink says whom a link would log in, and does not use it: that takes a tap.
func (p *Page) aboutLink(w http.ResponseWriter, r *http.Request) {
	t, ok, err := p.link(r)
	uses := 0
	if ok {
		uses, err = p.o.Tries.Miss(r.Context(), "page-link:"+t.ID, 2*linkLife, false)
	}
	switch {
	case err != nil:
		p.noLogin(w, r, err)
		return
	case !ok || uses > 0:
		http.Error(w, badLink.text, badLink.status)
		return
	}
	role := ""
	if t.Viewer {
		role = ", to look only"
	}
	p.text(w, r, "Log in on this device as "+t.Person+role+"?")
}

// link reads the link of a form, whether or not it was used.
func (p *Page) link(r *http.Request) (t ticket, ok bool, err error) {
	if t, ok = p.read(forLink, r.PostFormValue("link")); ok {
		ok, err = p.lives(r.Context(), forLink, t.ID, linkLife)
	}
	return t, ok, err
}

// text answers with one line.
func (p *Page) text(w http.ResponseWriter, r *http.Request, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := w.Write([]byte(line)); err != nil {
		p.o.Log.DebugContext(r.Context(), "an answer could not be sent", "err", err)
	}
}

func (p *Page) noLogin(w http.ResponseWriter, r *http.Request, err error) {
	p.o.Log.ErrorContext(r.Context(), "a login could not be taken", "err", err)
	http.Error(w, "The store can't be reached, so you can't log in. Try again.", http.StatusServiceUnavailable)
}

// login takes a link or a token for a session.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	prove := p.byToken
	switch {
	case r.PostFormValue("link") != "":
		prove = p.byLink
	case r.PostFormValue("signature") != "":
		prove = p.byPasskey
	}
	t, why, err := prove(r)
	switch {
	case err != nil:
		p.noLogin(w, r, err)
	case t == nil:
		http.Error(w, why.text, why.status)
	default:
		p.enter(w, r, *t)
	}
}

// refusal is why a login is none.
type refusal struct {
	text   string
	status int
}

var (
	badLink  = refusal{"This link was used or is too old. `verifier login` prints a new one.", http.StatusUnauthorized}
	badToken = refusal{"That is not the token. `verifier login` prints a link that needs none.", http.StatusUnauthorized}
	tooMany  = refusal{"Many wrong tokens come from your address right now. Try again, or use a link: `verifier login` prints one.", http.StatusTooManyRequests}
)

// byLink uses a link up. Of several who do so at once the first gets in. Links
// can't be guessed, so a bad one counts as nothing, and however many wrong tokens
// came from the address, a good one works.
func (p *Page) byLink(r *http.Request) (*ticket, refusal, error) {
	t, ok, err := p.link(r)
	if !ok {
		return nil, badLink, err
	}
	uses, err := p.o.Tries.Miss(r.Context(), "page-link:"+t.ID, 2*linkLife, true)
	if err != nil || uses != 1 {
		return nil, badLink, err
	}
	return &t, refusal{}, nil
}

// byToken looks a token up. Wrong ones close no door, since others may share the
// address with the person who tries them: they make each further try from there
// wait before it is looked at.
func (p *Page) byToken(r *http.Request) (*ticket, refusal, error) {
	count := "page-login:" + p.o.Peer(r)
	wrong, err := p.o.Tries.Miss(r.Context(), count, tryWindow, false)
	if err != nil {
		return nil, refusal{}, err
	}
	if wrong >= maxTries && !p.slow(r.Context()) {
		return nil, tooMany, nil
	}
	if person, ok := p.o.People().Who(r.PostFormValue("token")); ok {
		return &ticket{Person: person}, refusal{}, nil
	}
	if wrong < maxTries {
		p.o.Log.WarnContext(r.Context(), "a wrong token was tried on the page", "peer", p.o.Peer(r))
	}
	_, err = p.o.Tries.Miss(r.Context(), count, tryWindow, true)
	return nil, badToken, err
}

// slow makes a try wait. It reports whether there was room to wait.
func (p *Page) slow(ctx context.Context) bool {
	select {
	case p.slowed <- struct{}{}:
	default:
		return false
	}
	defer func() { <-p.slowed }()
	over := time.NewTimer(slowTry)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter begins a session. It is recorded: nobody comes in unseen.
func (p *Page) enter(w http.ResponseWriter, r *http.Request, as ticket) {
	t := newTicket(as.Person, as.Viewer, p.o.Now().Add(p.o.Session))
	session, ok := p.write(forSession, t)
	if err := p.issue(r.Context(), forSession, t.ID, p.o.Session); err != nil {
		p.noLogin(w, r, err)
		return
	}
	if err := p.note(r.Context(), &t, "logged in on the page from "+p.o.Peer(r)); !ok || err != nil {
		http.Error(w, "The record can't be written, so you can't log in. Try again.", http.StatusServiceUnavailable)
		return
	}
	p.text(w, r, session)
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
	p.quiet(r.Context(), m.ID)
	w.WriteHeader(http.StatusNoContent)
}
