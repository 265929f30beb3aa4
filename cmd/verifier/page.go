package main

import (
	"context"
	"net"
	"net/http"
	"os"

	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
	"github.com/openclaw-verifier/verifier/verifier"
	"github.com/openclaw-verifier/verifier/web"
)

// openPage makes the owner's page, where the config wants one.
func (g *gateway) openPage(c *config.Config, key hmac.Key, decider *verifier.Verifier, pushing web.Push) (err error) {
	if !c.Web.Enabled {
		return nil
	}
	record := ledger{recordPath(c, g.state), g.state}
	g.page, err = web.New(web.Options{
		Key: key, Desk: g.desk, Rooms: g.desk.Rooms, Tries: g.store, Record: g.record, Log: g.log,
		People: func() web.People { return g.live.Load().auth },
		Peer:   func(r *http.Request) string { return g.server.Peer(r) },
		URL:    c.Web.Address(), Hide: g.hide, Passkeys: g.passkeys, Push: pushing,
		Ledger: record,
		Memory: memory{g.store, decider, decider.Turns()},

		Rehearsal: rehearsal{g, record},

		Labels: &labelFiles{config: func() *config.Config { return g.live.Load().config }}, Owner: config.Owner,

		Policy:  func() *policy.Policy { return g.live.Load().policy },
		Reload:  func() web.Reload { return g.live.Load().reload },
		Health:  g.pageHealth,
		Session: c.Web.Session,
	})
	return err
}

// memory is what the page shows of conversations besides the record.
type memory struct {
	store backend
	*verifier.Verifier
	*turns.Keeper
}

// Worst implements web.Memory.
func (m memory) Worst(ctx context.Context, c session.Conversation) (taint.Level, error) {
	return m.store.Worst(ctx, c)
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
