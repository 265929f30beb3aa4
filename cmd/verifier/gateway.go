package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/metrics"
	"github.com/openclaw-verifier/verifier/notify"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/push"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/verifier"
	"github.com/openclaw-verifier/verifier/web"
)

// gateway is the whole program as a value: everything a decision needs, wired
// together. Tests and the benchmark start it like serve does.
type gateway struct {
	server   *server.Server
	desk     *approval.Desk
	store    *store.Store
	record   *record.Log
	log      *slog.Logger
	name     string // of the record's head in the store
	compared bool   // the store's head was, with the record

	config   *config.Config // as it was started with: what a reload can't change
	state    *config.State
	live     atomic.Pointer[live]
	refused  atomic.Bool // the config that was read last could not be taken
	level    *slog.LevelVar
	metrics  *metrics.Metrics
	page     *web.Page // nil where there is none
	passkeys *passkey.Ring
	push     *push.Client // nil: no device gets notifications
	notifier atomic.Pointer[notify.Notifier]

	channels map[string]approval.Channel // those that were given, and the chats of the config
}

// live is what a reload replaces, all at once.
type live struct {
	config *config.Config   // what it was made from
	cert   *tls.Certificate // nil without TLS
	auth   *server.Auth
	verifier.Terms
	proxies []netip.Prefix
}

// setup is what a gateway is made from.
type setup struct {
	config     *config.Config
	state      *config.State
	guarded    policy.Guard
	chats      chats // that the config may name
	channels   map[string]approval.Channel
	log        *slog.Logger
	level      *slog.LevelVar // the log's; nil: it stays as it is
	acceptLoss bool           // new conversations start as usual again, though the store has lost its content
}

// openGateway opens store and record and wires the rest.
func openGateway(s setup) (g *gateway, err error) {
	g = &gateway{log: s.log, level: s.level, config: s.config, state: s.state}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	key, err := serverKey(s.config, s.state)
	if err != nil {
		return g, err
	}
	first, err := g.prepare(s.config, s.guarded)
	if err != nil {
		return g, err
	}
	g.live.Store(first)
	if g.store, err = g.openStore(key); err != nil {
		return g, err
	}
	if s.acceptLoss {
		ctx, cancel := context.WithTimeout(context.Background(), commandWaits)
		defer cancel()
		if err = g.store.AcceptLoss(ctx); err != nil {
			return g, err
		}
	}
	if err = g.openRecord(s.config, s.state, key); err != nil {
		return g, err
	}
	if err = g.openChannels(s); err != nil {
		return g, err
	}
	decider, err := g.decider(s, key)
	if err != nil {
		return g, err
	}
	pushing, err := g.openPush(s.config, key)
	if err != nil {
		return g, err
	}
	if err = g.openPage(s.config, key, pushing); err != nil {
		return g, err
	}
	g.openNotifier(s.config, key, pushing)
	return g, g.openServer(s, decider)
}

// openServer wires the routes.
func (g *gateway) openServer(s setup, decider *verifier.Verifier) (err error) {
	options := server.Options{
		Path: s.config.Webhook.Path, Auth: func() *server.Auth { return g.live.Load().auth },
		Tolerance: func() time.Duration { return g.live.Load().config.Webhook.Tolerance },
		Verifier:  decider, Loop: decider, Graph: g.draw, Runtimes: decider.Runtimes,
		Desk: g.desk, Grants: g.desk.Grants, Pauses: g.desk.Pauses, Health: g.health,
		Metrics: g.metrics.Handler(), Log: s.log,
		Proxies: func() []netip.Prefix { return g.live.Load().proxies },
		Relays:  func(client, platform string) bool { return g.live.Load().config.Relays(client, platform) },
	}
	if g.page != nil {
		options.Page, options.Login, options.Enrol = g.page, g.page.Link, g.page.Enrol
	}
	if s.config.TLS.Set() {
		options.Certificate = func() *tls.Certificate { return g.live.Load().cert }
		if err := g.showCertificate(); err != nil {
			return err
		}
	}
	g.server, err = server.New(options)
	return err
}

// decider wires desk and verifier.
func (g *gateway) decider(s setup, key hmac.Key) (*verifier.Verifier, error) {
	g.metrics = metrics.New(metrics.Gauges{
		Open: g.openCards, Paused: g.paused,
		Rejected: func() float64 { return float64(g.server.Rejected()) },
	})
	var err error
	if g.passkeys, err = g.openPasskeys(key); err != nil {
		return nil, err
	}
	desk, err := approval.NewDesk(approval.Options{
		Terms: terms(s.config), Key: key, Store: g.store, Record: g.record,
		Hide: g.hide, Channels: g.channels, NoReset: func() bool { return g.live.Load().Policy.Strict },
		Log: s.log, Observe: g.happened,
		Visible: visible, Detailed: channels.FullyDetailed, Head: func(a *approval.Ask) string { return channels.Head(a).String() },
		Bodies: func(a *approval.Ask, params jsontext.Value) (jsontext.Value, int) {
			shown := g.live.Load().Bodies.Params(a.Tool, params)
			return shown.Params, shown.Hidden()
		},
	})
	if err != nil {
		return nil, err
	}
	g.desk = desk
	return verifier.New(verifier.Options{
		Terms: func() *verifier.Terms { return &g.live.Load().Terms }, Store: g.store, Record: g.record, Desk: g.desk,
		Visible: visible, Key: key, Graph: g.draw, Log: s.log, Observe: g.metrics.Decided,
	}), nil
}

// openPasskeys is the list that this machine keeps.
func (g *gateway) openPasskeys(key hmac.Key) (*passkey.Ring, error) {
	text, err := g.state.Passkeys()
	if err != nil {
		return nil, err
	}
	ring, err := passkey.Open(key, text, g.state.KeepPasskeys)
	if err != nil {
		g.log.Error("the list of passkeys can't be read", "err", err)
		return nil, g.state.DamagedPasskeys()
	}
	return ring, nil
}

// terms are what the desk takes from a config.
func terms(c *config.Config) approval.Terms {
	return approval.Terms{
		Config: c.Approval,
		TTL:    c.ApprovalTTL(),
		People: c.People(),
		Agents: c.AskedFor(),
		Names:  c.Audit.Params == config.ParamsNames,
	}
}

func visible(a *approval.Ask) bool {
	all, _ := channels.FullyVisible(a)
	return all
}

// Run answers on the listener until ctx ends, then stops within 5 s: held calls
// are denied first, so that no caller waits for a process that is going.
func (g *gateway) Run(ctx context.Context, l net.Listener) error {
	heads, stopHeads := context.WithCancel(context.Background())
	defer stopHeads()
	var kept sync.WaitGroup
	kept.Go(func() { g.keepHeads(heads) })
	served := make(chan error, 1)
	go func() { served <- g.server.Serve(l) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		g.desk.Stop()
		g.page.Stop()
		g.notifier.Load().Stop()
		grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		err = g.server.Shutdown(grace)
		cancel()
		err = errors.Join(err, <-served)
	}
	stopHeads()
	kept.Wait()
	return errors.Join(err, g.stopped())
}

// every calls do after each period until ctx ends.
func every(ctx context.Context, period time.Duration, do func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// stopped ends the record in good order.
func (g *gateway) stopped() error {
	err := g.record.Append(record.Entry{Kind: record.KindStop})
	if err := g.keepHead(); err != nil {
		g.log.Warn("the record's last head is not in the store", "err", err)
	}
	return errors.Join(err, g.close())
}

// close lets go of everything that was opened.
func (g *gateway) close() error {
	var errs []error
	g.page.Stop()
	g.notifier.Load().Stop()
	if g.desk != nil {
		g.desk.Close()
	}
	errs = append(errs, closeAll(g.channels))
	if g.record != nil {
		errs = append(errs, g.record.Close())
	}
	if g.store != nil {
		errs = append(errs, g.store.Close())
	}
	return errors.Join(errs...)
}

// health is what a decision needs.
func (g *gateway) health(ctx context.Context) []server.Check {
	checks := []server.Check{
		{Name: "store", Err: g.store.Ready(ctx)},
		{Name: "record", Err: g.record.Err()},
		{Name: "approvals", Err: g.desk.CanAsk()},
	}
	if lost, err := g.store.Lost(ctx); err == nil && len(lost) > 0 { // decided all the same: as untrusted
		checks = append(checks, server.Check{Name: "loss", Informational: true, Err: errors.New("the store has lost " +
			"what it knew: conversations are untrusted until the next start with --accept-loss")})
	}
	if auditor := g.live.Load().Auditor; auditor != nil { // without it calls are asked or denied: see its failMode
		checks = append(checks, server.Check{Name: "auditor", Err: auditor.Err(), Informational: true})
	}
	return append(checks, g.channelHealth()...)
}

// hide is what may be kept of what a person wrote.
func (g *gateway) hide(s string) string {
	g.live.Load().Redactor.Lines(&s)
	return s
}

// openCards is how many questions wait, for the metrics. A
// store that does not answer counts as none; its faults are counted elsewhere.
func (g *gateway) openCards() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	open, _, err := g.store.Open(ctx)
	if err != nil {
		return 0
	}
	return float64(len(open))
}

func (g *gateway) paused() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	paused, err := g.desk.Pauses.List(ctx)
	if err != nil {
		return 0
	}
	return float64(len(paused))
}

// serverKey is what codes and seals come from. Instances that share a store
// share it.
func serverKey(c *config.Config, state *config.State) (hmac.Key, error) {
	if c.Store.Key.Set() {
		return hmac.Key(c.Store.Key.Reveal()), nil
	}
	if state == nil {
		return nil, nil
	}
	key, err := state.ServerKey()
	return hmac.Key(key), err
}

// newAuth is whose signatures and tokens count.
func newAuth(c *config.Config, state *config.State) (*server.Auth, error) {
	clients := reveal(c)
	if len(clients) == 0 {
		secret, err := state.WebhookSecret()
		if err != nil {
			return nil, err
		}
		clients[config.DefaultClient] = []string{secret.Reveal()}
	}
	owner := c.OwnerToken
	if !owner.Set() {
		var err error
		if owner, err = state.OwnerToken(); err != nil {
			return nil, err
		}
	}
	tokens := make(map[string]string)
	for name, t := range c.Tokens(owner) {
		tokens[name] = t.Reveal()
	}
	auth, err := server.NewAuth(clients, c.Webhook.Bearer.Reveal(), tokens)
	if err == nil {
		auth.AdmitWithoutToken(c.WithPasskeys()...)
	}
	return auth, err
}
