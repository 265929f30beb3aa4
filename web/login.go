package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
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

// ticket lets its bearer in: as a session, which the page's script sends in a
// header, or once, as a link. It is sealed and kept nowhere here; the store knows
// its id for as long as it lives, and what ends it early.
type ticket struct {
	Person string
	Viewer bool // may look and not answer, whatever the person may
	Until  time.Time
	ID     string // random, 128 bits in hex
}

// What a ticket may be for.
const (
	forSession = "page-session"
	forLink    = "page-link"
)

const maxTicket = 1024

func newTicket(person string, viewer bool, until time.Time) ticket {
	var id [16]byte
	rand.Read(id[:]) // it never fails
	return ticket{Person: person, Viewer: viewer, Until: until, ID: hex.EncodeToString(id[:])}
}

// tickets are written, opened and ended here. It is all that logins and sessions rest on.
type tickets struct {
	key    hmac.Key
	counts Tries
	people func() People
	now    func() time.Time
}

// link makes a ticket that is good once and for ten minutes.
func (s *tickets) link(ctx context.Context, purpose, person string, viewer bool) (t ticket, text string, err error) {
	t = newTicket(person, viewer, s.now().Add(linkLife).Truncate(time.Second))
	text, ok := s.write(purpose, t)
	if !ok {
		return t, "", errors.New("web: there is no token of that name")
	}
	return t, text, s.issue(ctx, purpose, t.ID, linkLife)
}

// issue begins the life of a ticket. The store ends it by its own clock, which is
// never set back: the end in the ticket itself goes by a clock that may be.
func (s *tickets) issue(ctx context.Context, purpose, id string, life time.Duration) error {
	_, err := s.counts.Count(ctx, purpose+"-issued:"+id, life, true)
	return err
}

// lives reports whether a ticket was issued and the store has not ended it.
func (s *tickets) lives(ctx context.Context, purpose, id string, life time.Duration) (bool, error) {
	n, err := s.counts.Count(ctx, purpose+"-issued:"+id, life, false)
	return n > 0, err
}

// unused reads a link, if the store has not ended it and it was not used before. With use it is used up: of several who do so at once the
// first has it.
func (s *tickets) unused(ctx context.Context, purpose, text string, use bool) (t ticket, ok bool, err error) {
	if t, ok = s.read(purpose, text); !ok {
		return t, false, nil
	}
	if ok, err = s.lives(ctx, purpose, t.ID, linkLife); err != nil || !ok {
		return t, false, err
	}
	uses, err := s.counts.Count(ctx, purpose+":"+t.ID, 2*linkLife, use)
	if use {
		uses-- // this time
	}
	return t, err == nil && uses == 0, err
}

// write seals a ticket. The person's mark is in the seal: it is void once their
// token is another.
func (s *tickets) write(purpose string, t ticket) (string, bool) {
	mark, ok := s.people().Mark(t.Person)
	if !ok {
		return "", false
	}
	parts := t.parts()
	return strings.Join(append(parts, s.key.Seal(purpose, append(parts, mark)...)), "."), true
}

func (t *ticket) parts() []string {
	role := "a"
	if t.Viewer {
		role = "v"
	}
	return []string{base64.RawURLEncoding.EncodeToString([]byte(t.Person)), role, strconv.FormatInt(t.Until.Unix(), 10), t.ID}
}

// read opens a ticket that was sealed for this purpose and has not expired.
func (s *tickets) read(purpose, text string) (ticket, bool) {
	f := strings.Split(text, ".")
	if len(text) > maxTicket || len(f) != 5 {
		return ticket{}, false
	}
	person, errPerson := base64.RawURLEncoding.Strict().DecodeString(f[0])
	until, errUntil := strconv.ParseInt(f[2], 10, 64)
	if errPerson != nil || errUntil != nil {
		return ticket{}, false
	}
	t := ticket{Person: string(person), Viewer: f[1] != "a", Until: time.Unix(until, 0), ID: f[3]}
	mark, known := s.people().Mark(t.Person)
	ok := s.key.Check(f[4], purpose, f[0], f[1], f[2], f[3], mark)
	return t, ok && known && s.now().Before(t.Until)
}
