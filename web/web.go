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
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// Root is where the page stands.
const Root = "/page/"

// Via is what the record calls the page.
const Via = "page"

// Desk is where questions wait and answers go.
type Desk interface {
	Answer(ctx context.Context, a approval.Answer) (approval.Outcome, error)
	Waiting(ctx context.Context) ([]*approval.Card, time.Time, error)
	Look(ctx context.Context, id string) (*approval.Card, approval.Outcome, time.Time, error)
	Open(ctx context.Context, a approval.Answer, c *approval.Card) error
	Draft(c *approval.Card) (text, why string)
	Reveal(ctx context.Context, a approval.Answer, c *approval.Card) (jsontext.Value, error)
	Grants(ctx context.Context, conversation string) (approval.Granting, error)
	Revoke(ctx context.Context, a approval.Answer, of string) (approval.Outcome, error)
	Always(id string, c *approval.Card) (session.Grant, bool)
	Refused(ctx context.Context, tool, spelled string) (approval.Refusals, error)
	Consent(ctx context.Context, a approval.Answer, g session.Grant, days int) (approval.Outcome, error)
	Sources(ctx context.Context, ref string) (session.Account, error)
	Jobs(ctx context.Context) ([]session.Account, error)
	Endorse(ctx context.Context, v approval.Vouching) (approval.Outcome, error)
	LikeThis(ctx context.Context, a approval.Answer, entry int) (*approval.Likely, error)
	AskTest(ctx context.Context, a approval.Answer) (approval.Outcome, error)
	Lists(id string) bool
	Absences(ctx context.Context, id string) (approval.Absences, error)
	Paused() string
	Pauses() []session.Pause
}

// Tries counts what may happen only so often: each name has a window that the
// first count opens. All processes that share a store share it.
type Tries interface {
	Miss(ctx context.Context, name string, window time.Duration, count bool) (int, error)
}

// People are those who have a token. A mark stands for a token and tells nothing
// of it; it changes when the token does.
type People interface {
	Who(token string) (name string, ok bool)
	Mark(name string) (mark string, ok bool)
}

// Recorder keeps the record.
type Recorder interface {
	Append(e audit.Entry) error
}

// Options are what a Page needs.
type Options struct {
	Key    hmac.Key // seals sessions and links
	Desk   Desk
	Tries  Tries
	People func() People // as they are now
	Record Recorder
	Ledger Ledger // the same, to be read
	Memory Memory

	Passkeys *passkey.Ring // the desk's; nil: a list that is forgotten
	Push     Push

	Labels Labels // nil: there are none
	Owner  string // the name of the owner token's holder, whose policy it is

	Rehearsal Rehearsal
	Policy    func() *policy.Policy
	Reload    func() Reload
	Health    func(context.Context) []Check
	Peer      func(*http.Request) string // the address a request comes from; nil: the connection's
	URL       *url.URL                   // where the owner opens it, if that has a name; nil: by address
	Hide      func(string) string        // takes secrets out of a name that others chose; nil: [redact.Line]
	Session   time.Duration              // how long a login is good; 0 means DefaultSession
	Log       *slog.Logger               // nil discards
	Now       func() time.Time           // nil means time.Now
}

// DefaultSession is how long a login is good.
const DefaultSession = 7 * 24 * time.Hour

// Page is the page as a handler. Stop it to end its streams.
type Page struct {
	o       Options
	handler http.Handler
	live    *live
	charts  keptCharts
	agents  keptAgents
	always  keptOffers
	scans   chan struct{} // holds one for each look through the record
	slowed  chan struct{} // holds one for each try at a token that has to wait
}

// New makes a page.
func New(o Options) (*Page, error) {
	if len(o.Key) < 32 || o.Desk == nil || o.Tries == nil || o.People == nil || o.Record == nil || o.Ledger == nil || o.Memory == nil || o.Rehearsal == nil || o.Policy == nil || o.Reload == nil || o.Health == nil {
		return nil, errors.New("web: all but peer, URL, hide, session, log and clock is needed")
	}
	if o.Session == 0 {
		o.Session = DefaultSession
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
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
	p := &Page{o: o, scans: make(chan struct{}, maxScans), slowed: make(chan struct{}, maxSlowed)}
	p.live = newLive(p)
	p.handler = p.routes()
	return p, nil
}

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
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"assets/{file}", p.asset)
	mux.HandleFunc("GET "+Root+"manifest.webmanifest", p.manifest)
	mux.HandleFunc("GET "+Root+"login", p.shell)
	mux.HandleFunc("POST "+Root+"login", p.login)
	mux.HandleFunc("POST "+Root+"login/link", p.aboutLink)
	mux.HandleFunc("POST "+Root+"login/passkey", p.wantsLogin)
	mux.Handle("GET "+Root+"passkeys", p.view(p.passkeys))
	mux.HandleFunc("POST "+Root+"passkeys", p.addKey)
	mux.HandleFunc("POST "+Root+"passkeys/new", p.newKey)
	mux.Handle("POST "+Root+"passkeys/proof", p.approver(p.wantsProof))
	mux.Handle("POST "+Root+"passkeys/remove", p.member(p.removeKey))
	p.notificationRoutes(mux)
	mux.Handle("POST "+Root+"logout", p.member(p.logout))
	mux.Handle("GET "+Root+"{$}", p.view(p.waiting))
	mux.Handle("GET "+Root+"cards/{id}", p.view(p.card))
	mux.Handle("POST "+Root+"answer", p.approver(p.answer))
	mux.Handle("POST "+Root+"reveal", p.approver(p.reveal))
	mux.Handle("POST "+Root+"edit", p.approver(p.edit))
	mux.Handle("POST "+Root+"always", p.approver(p.showAlways))
	mux.Handle("POST "+Root+"say", p.approver(p.say))
	mux.Handle("POST "+Root+"test", p.approver(p.test))
	mux.Handle("GET "+Root+"events", p.member(p.events))
	mux.Handle("GET "+Root+"grants", p.view(p.grants))
	mux.Handle("POST "+Root+"grants", p.approver(p.revoke))
	mux.Handle("POST "+Root+"consents", p.approver(p.consent))
	mux.Handle("GET "+Root+"talks", p.view(p.talks))
	mux.Handle("GET "+Root+"talks/{hash}", p.view(p.talk))
	mux.Handle("POST "+Root+"talks/{hash}", p.approver(p.discuss))
	mux.Handle("GET "+Root+"history", p.view(p.history))
	mux.Handle("GET "+Root+"record", p.view(p.record))
	mux.Handle("POST "+Root+"record/proof", p.member(p.prove))
	mux.Handle("GET "+Root+"record/export", p.view(p.export))
	mux.Handle("GET "+Root+"policy", p.view(p.policy))
	mux.Handle("POST "+Root+"policy", p.member(p.try))
	mux.Handle("POST "+Root+"policy/replay", p.approver(p.rehearse))
	mux.Handle("GET "+Root+"labels", p.view(p.labels))
	mux.Handle("POST "+Root+"labels", p.member(p.label))
	mux.Handle("GET "+Root+"health", p.view(p.health))
	return p.guarded(mux)
}

func (p *Page) notificationRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET "+Root+"worker.js", p.worker)
	mux.Handle("GET "+Root+"notifications", p.view(p.notifications))
	mux.Handle("POST "+Root+"notifications", p.approver(p.notify))
	mux.Handle("GET "+Root+"notifications/key", p.approver(p.pushKey))
	mux.Handle("POST "+Root+"notifications/renew", p.approver(p.renew))
	mux.Handle("POST "+Root+"notifications/remove", p.member(p.unnotify))
	mux.Handle("POST "+Root+"notifications/answer", p.approver(p.fromNotification))
}
