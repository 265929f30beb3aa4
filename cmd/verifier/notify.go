package main

import (
	"net/url"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/notify"
	"github.com/openclaw-verifier/verifier/push"
	"github.com/openclaw-verifier/verifier/web"
)

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
	ways := services(&c.Notify)
	if g.push == nil && len(ways) == 0 {
		return
	}
	g.notifier.Store(notify.New(notify.Options{
		Key: key, Desk: g.desk, Reachable: g.desk.Availability.Reachable, Devices: p.Devices, Push: g.push, Current: g.page.Current, Allow: p.Allow, Ways: ways,
		Page: cardsAt(&c.Web), Record: g.record.Append, Log: g.log,
	}))
}

// services are those that the config names. The check has read their addresses.
func services(n *config.Notify) (out []notify.Way) {
	if u, err := url.Parse(n.Ntfy.URL.Reveal()); err == nil && n.Ntfy.URL.Set() {
		out = append(out, notify.Ntfy(u, n.Ntfy.Token.Reveal()))
	}
	if u, err := url.Parse(n.Gotify.URL.Reveal()); err == nil && n.Gotify.URL.Set() {
		out = append(out, notify.Gotify(u, n.Gotify.Token.Reveal()))
	}
	if u, err := url.Parse(n.Webhook.URL.Reveal()); err == nil && n.Webhook.URL.Set() {
		out = append(out, notify.Webhook(u, n.Webhook.Secret.Reveal()))
	}
	return out
}
