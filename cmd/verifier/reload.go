package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/verifier"
)

// prepare makes what a config says of secrets, certificate, policy and
// redaction, and changes nothing yet.
func (g *gateway) prepare(c *config.Config, guarded policy.Guard) (*live, error) {
	auth, err := newAuth(c, g.state)
	if err != nil {
		return nil, err
	}
	pc := c.Policy
	pc.Guard = guarded
	rules, warnings, err := policy.New(pc)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		g.log.Warn("policy: "+w.Text, "at", w.Path)
	}
	redactor, err := newRedactor(c, g.state, false)
	if err != nil {
		return nil, err
	}
	bodies, err := newRedactor(c, g.state, true)
	if err != nil {
		return nil, err
	}
	cards := redactor
	if c.Redact.ShowFileBodies {
		cards = bodies
	}
	next := &live{config: c, auth: auth, proxies: c.Proxies(), Terms: verifier.Terms{
		Policy: rules, Redactor: redactor, Cards: cards, Bodies: bodies, Auditor: g.auditorOf(c), Lineage: auth.Lineage,
		Hold: c.Webhook.Hold, MaxHold: c.Webhook.MaxHold, Keep: 2*c.Webhook.Tolerance + c.Webhook.MaxHold + time.Minute,
		Names: c.Audit.Params == config.ParamsNames,
	}}
	if c.TLS.Set() {
		next.cert, err = c.TLS.Load()
	}
	return next, err
}

// newRedactor hides what the config says, and our own secrets by their value.
func newRedactor(c *config.Config, state *config.State, bodies bool) (*redact.Redactor, error) {
	kept, err := state.Secrets()
	if err != nil {
		return nil, err
	}
	rules := c.Redact
	rules.ShowFileBodies = bodies
	rules.Known = append(kept, c.SecretTexts()...)
	return redact.New(rules)
}

// reloadOn reloads the config at each signal until ctx ends.
func (g *gateway) reloadOn(ctx context.Context, signals <-chan os.Signal, load func() (*config.Config, policy.Guard, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			c, guarded, err := load()
			g.refused.Store(err != nil)
			if err == nil {
				err = g.reload(c, guarded)
			}
			if err != nil {
				logRefusal(g.log, err)
			}
		}
	}
}

// watch asks for a reload whenever one of the files has changed, and when a config
// that was refused would be taken now, because a file that it names has come. It
// looks every so often: editors replace files in too many ways for anything finer
// to be sure.
func (s stamps) watch(ctx context.Context, files func() []string, fixed func() bool, period time.Duration, wanted chan<- os.Signal) {
	every(ctx, period, func() {
		if !s.look(files()) && !fixed() {
			return
		}
		select {
		case wanted <- syscall.SIGHUP:
		default: // one is waiting to be seen
		}
	})
}

// stamps are what files were like when they were last looked at.
type stamps map[string]string

// look reports whether one of the files is not as it was.
func (s stamps) look(files []string) (changed bool) {
	for _, path := range files {
		now := fileStamp(path)
		if now == "" { // while it is being replaced there is none
			continue
		}
		before, known := s[path]
		changed = changed || known && before != now
		s[path] = now
	}
	return changed
}

// filesOf are the files that a config was read from, besides the config itself.
func filesOf(c *config.Config) []string {
	files := slices.Clone(c.SecretFiles())
	if c.TLS.Set() {
		files = append(files, c.TLS.Cert, c.TLS.Key)
	}
	return files
}

// fileStamp changes when a file does, or who may read it.
func fileStamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode())
}

// reload puts a checked config in force for the next call and the next answer.
// What was taken out is dead from then on. What is bound to an open file, port or
// store needs a restart, and that is said.
func (g *gateway) reload(c *config.Config, guarded policy.Guard) error {
	next, err := g.prepare(c, guarded)
	if err != nil {
		return err
	}
	if err := g.desk.Configure(terms(c)); err != nil {
		return err
	}
	next.cert = cmp.Or(next.cert, g.live.Load().cert) // to end TLS takes a restart
	before := g.live.Swap(next)
	if err := g.showCertificate(); err != nil {
		g.log.Warn("the commands on this machine may not know the new certificate", "err", err)
	}
	if g.level != nil {
		g.level.Set(logLevel(c.Log.Level))
	}
	g.log.Info("the config was reloaded and is in force", "changed", changed(before, next))
	if rest := needRestart(g.config, c); len(rest) > 0 {
		g.log.Warn("some of what changed takes effect only after a restart", "keys", rest)
	}
	return nil
}

// parts are what can be told apart without showing any of it.
func parts(c *config.Config) (inForce, restart map[string]any) {
	inForce = map[string]any{
		"ownerToken": c.OwnerToken.Reveal(), "webhook.secrets": reveal(c), "webhook.bearer": c.Webhook.Bearer.Reveal(),
		"policy": c.Policy, "redact": c.Redact, "caution": c.Caution, "approvers": c.People(), "approverTokens": tokens(c),
		"approval": c.Approval, "approvalTtlSeconds": c.ApprovalTTLSeconds, "audit.params": c.Audit.Params,
		"audit.rotation": [2]int{c.Audit.RotateMB, c.Audit.Keep}, "log.level": c.Log.Level,
		"notify.push.allow": c.Notify.Push.Allow, "trustedProxies": c.TrustedProxies, "webhook.relayApprovals": c.Webhook.RelayApprovals,
		"webhook.tolerance": c.Webhook.Tolerance, "webhook.hold": c.Webhook.Hold, "webhook.maxHold": c.Webhook.MaxHold,
	}
	restart = map[string]any{
		"listen": c.Listen, "tls": c.TLS.Set(), "webhook.path": c.Webhook.Path, "store.url": c.Store.URL.Reveal(), "store.key": c.Store.Key.Reveal(),
		"audit.path": c.Audit.Path, "audit.sync": c.Audit.Sync, "log.format": c.Log.Format, "channels": sections(c), "web": c.Web, "notify": notifyParts(c),
	}
	return inForce, restart
}

// notifyParts is the part of notify that a reload does not change.
func notifyParts(c *config.Config) config.Notify {
	n := c.Notify
	n.Push.Allow = false
	return n
}

func sections(c *config.Config) map[string][32]byte {
	out := make(map[string][32]byte)
	for name, section := range c.Channels {
		out[name] = section.Sum()
	}
	return out
}

func tokens(c *config.Config) map[string]string {
	out := make(map[string]string)
	for _, a := range c.Approvers {
		out[a.Name] = a.Token.Reveal()
	}
	return out
}

// reveal is the secrets of each client.
func reveal(c *config.Config) map[string][]string {
	out := make(map[string][]string)
	for name, secrets := range c.Clients() {
		for _, s := range secrets {
			out[name] = append(out[name], s.Reveal())
		}
	}
	return out
}

// changed names what differs since the last reload and is in force now.
func changed(before, after *live) []string {
	a, _ := parts(before.config)
	b, _ := parts(after.config)
	a["tls.cert"], b["tls.cert"] = before.cert, after.cert
	return differing(a, b)
}

// needRestart names what differs since the start and is not.
func needRestart(before, after *config.Config) []string {
	_, a := parts(before)
	_, b := parts(after)
	return differing(a, b)
}

func differing(a, b map[string]any) []string {
	var names []string
	for name := range a {
		if !reflect.DeepEqual(a[name], b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
