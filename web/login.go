package web

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Limits of logging in.
const (
	linkLife  = 10 * time.Minute
	tryWindow = 10 * time.Minute
	maxTries  = 10          // wrong tokens from one address within the window; each further try waits
	slowTry   = time.Second // for so long
	maxSlowed = 128         // and no more than so many at once, so that many connections guess no faster
)

// login begins and ends sessions: by a link, a token or a passkey.
type login struct {
	*sessions
	ceremonies    *ceremonies
	notifications *notifications
	live          *live
	slowed        chan struct{} // holds one for each try at a token that has to wait
}

// aboutLink says whom a link would log in, and does not use it: that takes a tap.
func (l *login) aboutLink(w http.ResponseWriter, r *http.Request) {
	t, ok, err := l.unused(r.Context(), forLink, r.PostFormValue("link"), false)
	switch {
	case err != nil:
		l.noLogin(w, r, err)
		return
	case !ok:
		http.Error(w, badLink.text, badLink.status)
		return
	}
	role := ""
	if t.Viewer {
		role = ", to look only"
	}
	l.text(w, r, "Log in on this device as "+t.Person+role+"?")
}

func (l *login) noLogin(w http.ResponseWriter, r *http.Request, err error) {
	l.o.Log.ErrorContext(r.Context(), "a login could not be taken", "err", err)
	http.Error(w, "The store can't be reached, so you can't log in. Try again.", http.StatusServiceUnavailable)
}

// login takes a link or a token for a session.
func (l *login) login(w http.ResponseWriter, r *http.Request) {
	prove := l.byToken
	switch {
	case r.PostFormValue("link") != "":
		prove = l.byLink
	case r.PostFormValue("signature") != "":
		prove = l.byPasskey
	}
	t, why, err := prove(r)
	switch {
	case err != nil:
		l.noLogin(w, r, err)
	case t == nil:
		http.Error(w, why.text, why.status)
	default:
		l.enter(w, r, *t)
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

// byLink uses a link up. Links
// can't be guessed, so a bad one counts as nothing, and however many wrong tokens
// came from the address, a good one works.
func (l *login) byLink(r *http.Request) (*ticket, refusal, error) {
	t, ok, err := l.unused(r.Context(), forLink, r.PostFormValue("link"), true)
	if !ok {
		return nil, badLink, err
	}
	return &t, refusal{}, nil
}

// byToken looks a token up. Wrong ones close no door, since others may share the
// address with the person who tries them: they make each further try from there
// wait before it is looked at.
func (l *login) byToken(r *http.Request) (*ticket, refusal, error) {
	count := "page-login:" + l.o.Peer(r)
	wrong, err := l.counts.Count(r.Context(), count, tryWindow, false)
	if err != nil {
		return nil, refusal{}, err
	}
	if wrong >= maxTries && !l.slow(r.Context()) {
		return nil, tooMany, nil
	}
	if person, ok := l.o.People().Who(r.PostFormValue("token")); ok {
		return &ticket{Person: person}, refusal{}, nil
	}
	if wrong < maxTries {
		l.o.Log.WarnContext(r.Context(), "a wrong token was tried on the page", "peer", l.o.Peer(r))
	}
	_, err = l.counts.Count(r.Context(), count, tryWindow, true)
	return nil, badToken, err
}

// byPasskey logs in whose passkey has signed.
func (l *login) byPasskey(r *http.Request) (*ticket, refusal, error) {
	key, why, err := l.ceremonies.signed(r, forLogin, "")
	if err != nil || why.text != "" {
		return nil, why, err
	}
	person := strings.TrimPrefix(key.Of, keyOwner(""))
	if _, known := l.o.People().Mark(person); !known {
		return nil, badPasskey, nil
	}
	return &ticket{Person: person}, refusal{}, nil
}

// slow makes a try wait. It reports whether there was room to wait.
func (l *login) slow(ctx context.Context) bool {
	select {
	case l.slowed <- struct{}{}:
	default:
		return false
	}
	defer func() { <-l.slowed }()
	select {
	case <-time.After(slowTry):
		return true
	case <-ctx.Done():
		return false
	}
}

// enter begins a session. It is recorded: no one comes in unseen.
func (l *login) enter(w http.ResponseWriter, r *http.Request, as ticket) {
	t := newTicket(as.Person, as.Viewer, l.o.Now().Add(l.o.Session))
	session, ok := l.write(forSession, t)
	if err := l.issue(r.Context(), forSession, t.ID, l.o.Session); err != nil {
		l.noLogin(w, r, err)
		return
	}
	if err := l.note(r.Context(), &t, "logged in on the page from "+l.o.Peer(r)); !ok || err != nil {
		http.Error(w, "The record can't be written, so you can't log in. Try again.", http.StatusServiceUnavailable)
		return
	}
	l.text(w, r, session)
}

// logout ends a session wherever it is used.
func (l *login) logout(w http.ResponseWriter, r *http.Request, m *member) {
	if _, err := l.counts.Count(r.Context(), "page-out:"+m.ID, l.o.Session, true); err != nil {
		l.o.Log.ErrorContext(r.Context(), "a session could not be ended", "err", err)
		http.Error(w, "The store can't be reached, so the session goes on. Try again.", http.StatusServiceUnavailable)
		return
	}
	l.live.end(m.ID)
	l.notifications.quiet(r.Context(), m.ID)
	w.WriteHeader(http.StatusNoContent)
}
