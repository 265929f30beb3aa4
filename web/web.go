// Package web is the owner's page: what waits, in full, and the buttons that
// answer it, on a phone or at a desk.
//
// It is one more way to the desk and no second desk: every answer goes through
// the same door as a tap in a chat, with the same handles, and who may give it
// is checked there. The page is drawn here as HTML from the documents that all
// channels share; what an agent wrote reaches it only through channels.Safe and
// html/template, as text. Scripts and styles are files of our own origin, built
// into the program; nothing is fetched from anywhere else.
//
// The HTML that a browser loads is an empty shell. Its script fetches the views
// with a session in a header, which it keeps in IndexedDB: that belongs to this
// scheme, host and port alone, while a cookie would go to every port of the host.
// There is no cookie.
//
// It refuses: a request under a name that is not ours (DNS rebinding), anything
// without a session, a new passkey for a session alone, a POST that does not come from this page (Origin), a change
// by GET, a login link that was used, an answer from someone who may only look,
// to be framed, cached or indexed, and to show an approval code at all.
package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/push"
	"github.com/openclaw-verifier/verifier/redact"
)

// Root is where the page is.
const Root = "/page/"

// Via is what the record calls the page.
const Via = "page"

// Desk is where questions wait and answers go.
type Desk interface {
	Answer(ctx context.Context, a approval.Answer) (approval.Outcome, error)
	Waiting(ctx context.Context) ([]*approval.Card, time.Time, error)
	Look(ctx context.Context, id string) (*approval.Card, approval.Outcome, time.Time, error)
	Draft(c *approval.Card) (text, why string)
	Open(ctx context.Context, a approval.Answer, c *approval.Card, all bool) error // shows what is hidden of its call
	MayAlways(id string, c *approval.Card) bool
	Lists(id string) bool
	Tell(ctx context.Context, text string)
}

// Tries counts what may happen only so often: each name has a window that the
// first count opens. All processes that share a store share it.
type Tries interface {
	Count(ctx context.Context, name string, window time.Duration, add bool) (int, error)
}

// People are those who have a token. A mark names a token and tells nothing of it;
// it changes when the token does.
type People interface {
	Who(token string) (name string, ok bool)
	Mark(name string) (mark string, ok bool)
}

// Recorder keeps the record.
type Recorder interface {
	Append(e record.Entry) error
}

// Options are what a Page needs.
type Options struct {
	Key    hmac.Key // seals sessions and links
	Desk   Desk
	Grants *approval.Grants
	Pauses *approval.Pauses
	Tries  Tries
	People func() People // as they are now
	Record Recorder
	Ledger Ledger // the same, to be read

	Passkeys *passkey.Ring // the desk's; nil: a list that is forgotten
	Push     Push

	Peer    func(*http.Request) string // the address a request comes from; nil: the connection's
	URL     *url.URL                   // where the owner opens it, if that has a name; nil: by address
	Hide    func(string) string        // takes secrets out of a name that others chose; nil: [redact.Line]
	Session time.Duration              // how long a login is good; 0 means DefaultSession
	Log     *slog.Logger               // nil discards
	Now     func() time.Time           // nil means time.Now
}

// DefaultSession is how long a login is good.
const DefaultSession = 7 * 24 * time.Hour

// Page is the page as a handler. Stop it to end its streams.
type Page struct {
	sessions      *sessions
	live          *live
	notifications *notifications
	handler       http.Handler
}

// New makes a page.
func New(o Options) (*Page, error) {
	if len(o.Key) < 32 || o.Desk == nil || o.Tries == nil || o.People == nil || o.Record == nil || o.Ledger == nil {
		return nil, errors.New("web: all but peer, URL, hide, session, log and clock is needed")
	}
	o.Session = cmp.Or(o.Session, DefaultSession)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hide == nil {
		o.Hide = redact.Line
	}
	if o.Passkeys == nil {
		o.Passkeys, _ = passkey.Open(o.Key, "", func(string) error { return nil }) // an empty list has no fault
	}
	if o.Peer == nil {
		o.Peer = func(r *http.Request) string { return r.RemoteAddr }
	}
	p := &Page{sessions: &sessions{&site{o}, &tickets{o.Key, o.Tries, o.People, o.Now}}}
	p.live = newLive(p.sessions)
	p.notifications = &notifications{p.sessions.site}
	p.handler = p.sessions.guarded(p.routes())
	return p, nil
}

// Link makes a login link for someone with a token, good once and for ten
// minutes: its path, and until when. The secret is behind the #, which browsers
// and previews don't send.
func (p *Page) Link(ctx context.Context, person string, viewer bool) (path string, until time.Time, err error) {
	t, text, err := p.sessions.link(ctx, forLink, person, viewer)
	if err != nil {
		return "", t.Until, err
	}
	return Root + "login#link=" + url.QueryEscape(text), t.Until, nil
}

// Enrol makes a link by which a person adds a passkey, good once and for ten
// minutes: its path, and until when. Without that passkey it logs no one in.
func (p *Page) Enrol(ctx context.Context, person string) (path string, until time.Time, err error) {
	if !p.sessions.o.Desk.Lists(keyOwner(person)) {
		return "", until, errors.New("web: there is no approver of that name who may log in")
	}
	t, text, err := p.sessions.link(ctx, forEnrol, person, false)
	if err == nil {
		err = p.sessions.note(ctx, &t, "a link to add a passkey was made")
	}
	if err != nil {
		return "", t.Until, err
	}
	return Root + "login#enrol=" + url.QueryEscape(text), t.Until, nil
}

// Current reports whether a device may be told of questions still: its person may
// answer, with the same token as when they added it.
func (p *Page) Current(d *push.Device) bool { return p.notifications.current(d) }

// ServeHTTP answers what comes in below Root.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Nudge says that something may have changed at the desk. It never waits.
func (p *Page) Nudge() {
	if p != nil {
		p.live.nudge()
	}
}

// Stop ends every stream: a server that shuts down waits for them.
func (p *Page) Stop() {
	if p != nil {
		p.live.stop()
	}
}

func (p *Page) routes() http.Handler {
	s, mux := p.sessions, http.NewServeMux()
	reader := &recordReader{s.site, make(chan struct{}, maxScans), maxScan}
	grants := &grants{site: s.site, reader: reader}
	mux.HandleFunc("GET "+Root+"assets/{file}", func(w http.ResponseWriter, r *http.Request) { s.file(w, r, r.PathValue("file")) })
	mux.HandleFunc("GET "+Root+"manifest.webmanifest", s.manifest)
	mux.Handle("GET "+Root+"events", s.member(p.live.events))
	p.loginRoutes(mux)
	p.notificationRoutes(mux)
	questionRoutes(mux, s, &questions{s.site, reader, grants})
	mux.Handle("GET "+Root+"grants", s.view(fresh(grants.list)))
	mux.Handle("POST "+Root+"grants", s.approver(grants.revoke))
	records := &records{s.site, reader}
	mux.Handle("GET "+Root+"history", s.view(records.history))
	mux.Handle("GET "+Root+"record", s.view(records.list))
	mux.Handle("POST "+Root+"record/proof", s.member(records.prove))
	mux.Handle("GET "+Root+"record/export", s.view(records.export))
	return mux
}

func (p *Page) loginRoutes(mux *http.ServeMux) {
	s, ceremonies := p.sessions, &ceremonies{p.sessions}
	login := &login{s, ceremonies, p.notifications, p.live, make(chan struct{}, maxSlowed)}
	mux.HandleFunc("GET "+Root+"login", s.shell)
	mux.HandleFunc("POST "+Root+"login", login.login)
	mux.HandleFunc("POST "+Root+"login/link", login.aboutLink)
	mux.HandleFunc("POST "+Root+"login/passkey", func(w http.ResponseWriter, r *http.Request) { ceremonies.options(w, r, forLogin, "", nil) })
	mux.Handle("POST "+Root+"logout", s.member(login.logout))
	passkeys := &passkeys{s, ceremonies, login}
	mux.Handle("GET "+Root+"passkeys", s.view(fresh(passkeys.list)))
	mux.HandleFunc("POST "+Root+"passkeys", passkeys.addKey)
	mux.HandleFunc("POST "+Root+"passkeys/new", passkeys.newKey)
	mux.Handle("POST "+Root+"passkeys/proof", s.approver(passkeys.wantsProof))
	mux.Handle("POST "+Root+"passkeys/remove", s.member(passkeys.removeKey))
}

func (p *Page) notificationRoutes(mux *http.ServeMux) {
	s, n := p.sessions, p.notifications
	mux.HandleFunc("GET "+Root+"worker.js", func(w http.ResponseWriter, r *http.Request) { s.file(w, r, "worker.js") }) // its address says what it may control
	mux.Handle("GET "+Root+"notifications", s.view(fresh(n.list)))
	mux.Handle("POST "+Root+"notifications", s.approver(n.add))
	mux.Handle("GET "+Root+"notifications/key", s.approver(func(w http.ResponseWriter, r *http.Request, _ *member) { n.text(w, r, n.o.Push.Public) }))
	mux.Handle("POST "+Root+"notifications/renew", s.approver(n.renew))
	mux.Handle("POST "+Root+"notifications/remove", s.member(n.remove))
	mux.Handle("POST "+Root+"notifications/answer", s.approver(n.fromNotification))
}

func questionRoutes(mux *http.ServeMux, s *sessions, q *questions) {
	mux.Handle("GET "+Root+"{$}", s.view(fresh(q.list)))
	mux.Handle("GET "+Root+"cards/{id}", s.view(q.card))
	mux.Handle("POST "+Root+"answer", s.approver(q.answer))
	mux.Handle("POST "+Root+"reveal", s.approver(q.reveal))
	mux.Handle("POST "+Root+"edit", s.approver(q.edit))
	mux.Handle("POST "+Root+"always", s.approver(q.showAlways))
	mux.Handle("POST "+Root+"say", s.approver(q.say))
}
