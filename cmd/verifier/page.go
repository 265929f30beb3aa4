package main

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/notify"
	"github.com/openclaw-verifier/verifier/push"
	"github.com/openclaw-verifier/verifier/web"
)

// openPage makes the owner's page, where the config wants one.
func (g *gateway) openPage(c *config.Config, key hmac.Key, pushing web.Push) (err error) {
	if !c.Web.Enabled {
		return nil
	}
	g.page, err = web.New(web.Options{
		Key: key, Desk: g.desk, Grants: g.desk.Grants, Pauses: g.desk.Pauses, Tries: g.store, Record: g.record,
		Log:    g.log,
		People: func() web.People { return g.live.Load().auth },
		Peer:   func(r *http.Request) string { return g.server.Peer(r) },
		URL:    c.Web.Address(), Hide: g.hide, Passkeys: g.passkeys, Push: pushing,
		Ledger: ledger{recordPath(c, g.state), key}, Session: c.Web.Session,
	})
	return err
}

// happened passes an event of the desk on to metrics, page and notifier.
func (g *gateway) happened(e approval.Event) {
	g.metrics.Happened(e)
	g.page.Nudge()
	g.notifier.Load().Nudge()
}

// greetPage says where the page is. On a terminal it prints a link that logs in;
// elsewhere what is printed may be kept, and its readers could answer.
func greetPage(a *app, c *config.Config, addr net.Addr, g *gateway) {
	if g.page == nil {
		return
	}
	base := pageBase(c, scheme(c)+reachable(addr.String()))
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if path, _, err := g.page.Link(a.ctx, config.Owner, false); err == nil {
			a.printf("  page    %s%s\n          (good once, for ten minutes; `verifier login` prints another)\n", base, path)
			return
		}
	}
	a.printf("  page    %s%s (`verifier login` prints a link that opens it)\n", base, web.Root)
}

// LoginCmd prints a link to the owner's page.
type LoginCmd struct {
	Viewer  bool   `help:"A link for looking only: its page can't answer." xor:"kind"`
	Passkey bool   `help:"A link that adds a passkey to the device that opens it. It needs no other login." xor:"kind"`
	For     string `help:"With --passkey: the approver who opens the link, by name. Only the owner token may name another person." placeholder:"NAME"`
	owner
}

// Run prints a link.
func (c *LoginCmd) Run(a *app) error {
	if c.For != "" && !c.Passkey {
		return &failure{"--for needs --passkey", "verifier login --passkey --for NAME"}
	}
	t, err := c.target(a, c.URL)
	if err != nil {
		return err
	}
	var out struct {
		Path  string    `json:"path"`
		Until time.Time `json:"until"`
		Text  string    `json:"text"`
	}
	if err := c.ask(a, http.MethodPost, "/owner/login", struct {
		Viewer  bool   `json:"viewer"`
		Passkey bool   `json:"passkey,omitzero"`
		For     string `json:"for,omitzero"`
	}{c.Viewer, c.Passkey, c.For}, &out); err != nil {
		return err
	}
	if out.Path == "" {
		return &failure{"the server has no page", "web.enabled in its config must not be false"}
	}
	base := pageBase(t.config, t.base)
	if c.Passkey {
		base = named(base)
	}
	a.printf("%s%s\n", base, printable(out.Path))
	a.warnf("It is good once, until %s.\n", stamp(out.Until))
	return nil
}

// named is an address that a passkey can belong to: one of this machine by its name, for browsers tie a passkey to no address of digits.
func named(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
		return base
	}
	u.Host = net.JoinHostPort("localhost", u.Port())
	return u.String()
}

// pageBase is where the owner opens the page: where the config says, else at the
// server.
func pageBase(c *config.Config, server string) string {
	if c.Web.Address() != nil {
		return strings.TrimRight(c.Web.URL, "/")
	}
	return server
}

// ledger is the server's own record, as the page reads it.
type ledger struct {
	path string
	key  hmac.Key
}

// Files implements web.Ledger.
func (l ledger) Files() ([]string, error) { return record.Files(l.path) }

// Verify implements web.Ledger. Lines cut off the end are the start's to notice.
func (l ledger) Verify() (record.Report, error) {
	files, err := l.Files()
	if err != nil {
		return record.Report{}, err
	}
	return record.VerifyFiles(files, record.VerifyOptions{Key: l.key, Whole: true})
}

// openPush is what the page and the notifier share: the devices that people have turned
// notifications on in, and what sends to them.
func (g *gateway) openPush(c *config.Config, key hmac.Key) (web.Push, error) {
	if !c.Web.Enabled || !c.Notify.Push.Enabled {
		return web.Push{}, nil
	}
	identity, err := push.NewIdentity(key, c.PushContact())
	if err != nil {
		return web.Push{}, err
	}
	text, err := g.state.Devices()
	if err != nil {
		return web.Push{}, err
	}
	devices, err := push.Open(key, text, g.state.KeepDevices)
	if err != nil {
		g.log.Error("the list of devices can't be read", "err", err)
		return web.Push{}, g.state.DamagedDevices()
	}
	g.push = push.NewClient(identity, c.Notify.Push.Services, time.Now)
	return web.Push{
		Devices: devices, Public: identity.Public(), Permits: g.push.Permits,
		Allow: func() bool { return g.live.Load().config.Notify.Push.Allow },
	}, nil
}

// openNotifier starts telling people what waits.
func (g *gateway) openNotifier(c *config.Config, key hmac.Key, p web.Push) {
	ntfy := ntfyOf(&c.Notify.Ntfy)
	if g.push == nil && ntfy == nil {
		return
	}
	g.notifier.Store(notify.New(notify.Options{
		Key: key, Desk: g.desk, Devices: p.Devices, Push: g.push, Current: g.page.Current, Allow: p.Allow, Ntfy: ntfy,
		Page: cardsAt(&c.Web), Record: g.record.Append, Log: g.log,
	}))
}

// ntfyOf is the topic that the config names; nil where it names none. The check has
// read its address.
func ntfyOf(n *config.Ntfy) *notify.Ntfy {
	u, err := url.Parse(n.URL.Reveal())
	if err != nil || !n.URL.Set() {
		return nil
	}
	return notify.NewNtfy(u, n.Token.Reveal())
}
