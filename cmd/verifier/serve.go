package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/channels/terminal"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/server"
)

// ServeCmd runs the gateway.
type ServeCmd struct {
	configFlag
	State  string `type:"path" placeholder:"DIR" help:"State directory. Default: $$VERIFIER_STATE, else ~/.local/state/verifier."`
	Listen string `placeholder:"HOST:PORT" help:"Listen here instead of where the config says."`

	AcceptLoss bool `help:"The store has lost its content, and you have restarted the agents' sessions: new conversations start as usual again. For one start only."`
}

// Run serves.
func (c *ServeCmd) Run(a *app) error {
	if err := c.find(); err != nil {
		return err
	}
	if c.Config != "" { // absolute, for what is printed and guarded
		if abs, err := filepath.Abs(c.Config); err == nil {
			c.Config = abs
		}
	}
	seen := stamps{}
	seen.look([]string{c.Config}) // before it is read, so that no change is missed
	cfg, findings, err := c.load(a)
	if err != nil {
		return err
	}
	seen.look(filesOf(cfg))
	state, err := config.OpenState(c.State)
	if err != nil {
		return err
	}
	level := &slog.LevelVar{}
	log := newLog(a.stderr, cfg.Log, level)
	logFindings(log, c.Config, findings)
	var lc net.ListenConfig
	l, err := lc.Listen(a.ctx, "tcp", cfg.Listen)
	if err != nil {
		return &failure{fmt.Sprintf("listen on %s: %v", cfg.Listen, err), listenHint(err)}
	}
	if cfg.Exposed(l.Addr().String()) { // the config was checked, but --listen was not, and a name may mean any address
		return errors.Join(&failure{l.Addr().String() + ": " + config.ExposedText, config.ExposedHint}, l.Close())
	}
	g, err := openGateway(setup{
		config: cfg, state: state, guarded: guard(cfg, c.Config, state, l.Addr()), chats: a.chats, channels: onTerminal(a),
		log: log, level: level, acceptLoss: c.AcceptLoss,
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := errors.Join(state.SetConfig(c.Config), state.SetAddress(strings.TrimPrefix(scheme(cfg), "http://")+l.Addr().String())); err != nil {
		return errors.Join(err, l.Close(), g.close())
	}
	c.greet(a, cfg, state, l.Addr(), g)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	go g.reloadOn(ctx, hangup, func() (*config.Config, policy.Guard, error) {
		next, findings, err := c.load(a)
		if err != nil {
			return nil, policy.Guard{}, err
		}
		logFindings(log, c.Config, findings)
		return next, guard(next, c.Config, state, l.Addr()), nil
	})
	if c.Config != "" {
		go seen.watch(ctx, func() []string { return append(filesOf(g.live.Load().config), c.Config) }, func() bool { return g.refused.Load() && c.loads(a) }, watchEvery, hangup)
	}
	return g.Run(ctx, l)
}

// listenHint says what to do about an address that can't be listened on.
func listenHint(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "is another verifier running there? `--listen 127.0.0.1:0` takes any free port"
	case errors.Is(err, syscall.EACCES):
		return "ports below 1024 are not for everybody: take one above, such as 127.0.0.1:8787"
	}
	return "say HOST:PORT, an address of this machine, such as 127.0.0.1:8787"
}

// load reads the config as the flags change it.
func (c *ServeCmd) load(a *app) (*config.Config, []config.Finding, error) {
	cfg, findings, err := a.loadConfig(c.Config)
	if err == nil && c.Listen != "" {
		cfg.Listen = c.Listen
	}
	return cfg, findings, err
}

// loads reports whether the config can be read.
func (c *ServeCmd) loads(a *app) bool {
	_, _, err := c.load(a)
	return err == nil
}

// watchEvery is how soon a changed config is noticed.
const watchEvery = 2 * time.Second

// onTerminal is the channel that shows questions on the server's own terminal.
func onTerminal(a *app) map[string]approval.Channel {
	out := make(map[string]approval.Channel)
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out["terminal"] = terminal.New(a.stdout)
	}
	return out
}

// usualState is the state directory of a user, which is that of the hooks if the gateway has another.
const usualState = "~/.local/state/verifier"

// guard is what no call may touch: whatever could approve, forge or switch off.
func guard(c *config.Config, configPath string, state *config.State, addr net.Addr) policy.Guard {
	g := policy.Guard{
		Paths:     append(state.Files(), state.Dir(), recordPath(c, state)),
		Addresses: []string{addr.String()},
		Hosts:     ownHosts(),
		Commands:  []string{"verifier", "verifier-hook"},
		Names:     []string{"VERIFIER_OWNER_TOKEN", "VERIFIER_SECRET", "VERIFIER_STATE", "VERIFIER_CONFIG", "VERIFIER_URL", "VERIFIER_CA"},
	}
	g.Paths = append(g.Paths, usualState) // hooks keep their notes there, where our own directory is another
	g.Paths = append(g.Paths, c.SecretFiles()...)
	if c.Audit.Path != "" {
		closed := strings.TrimSuffix(filepath.Base(c.Audit.Path), filepath.Ext(c.Audit.Path)) + "-0*"
		g.Names = append(g.Names, closed) // the state directory is guarded as a whole
	}
	if c.TLS.Set() {
		g.Paths = append(g.Paths, c.TLS.Cert, c.TLS.Key)
	}
	g.Names = append(g.Names, c.SecretVariables()...)
	if configPath != "" {
		if abs, err := filepath.Abs(configPath); err == nil {
			g.Paths = append(g.Paths, abs, filepath.Join(filepath.Dir(abs), openclawPlugin)) // who changes the plugin is not asked about any more
		}
	}
	g.Names = append(g.Names, configName) // the next command in that directory would take it
	if path := usualConfig(); path != "" {
		g.Paths = append(g.Paths, path)
	}
	if exe, err := os.Executable(); err == nil {
		g.Commands = append(g.Commands, filepath.Base(exe))
	}
	if c.Store.URL.Set() {
		// With its client our Redis could be written to under any spelling of its
		// address, or none.
		g.Names = append(g.Names, "redis-cli", "valkey-cli", "keydb-cli")
		g.Addresses = append(g.Addresses, hosts(c.Store.URL.Reveal())...)
	}
	return g
}

// ownHosts are the names and addresses of this machine: its own, and those that its table of hosts gives to loopback.
func ownHosts() []string {
	var out []string
	if all, err := net.InterfaceAddrs(); err == nil {
		for _, a := range all {
			ip, _, _ := strings.Cut(a.String(), "/")
			out = append(out, ip)
		}
	}
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		out = append(out, name, short, short+".local")
	}
	table, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return out // it is a help, where there is one
	}
	for row := range strings.Lines(string(table)) {
		row, _, _ = strings.Cut(row, "#")
		names := strings.Fields(row)
		if len(names) < 2 {
			continue
		}
		if ip, err := netip.ParseAddr(names[0]); err == nil && ip.Unmap().IsLoopback() {
			out = append(out, names[1:]...)
		}
	}
	return out
}

// redisPort is where a Redis listens that is named without a port.
const redisPort = "6379"

// hosts are the host:port parts of a store's address.
func hosts(url string) []string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "/")
	var out []string
	for h := range strings.SplitSeq(rest, ",") {
		if h == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(h); err != nil {
			h = net.JoinHostPort(strings.Trim(h, "[]"), redisPort)
		}
		out = append(out, h)
	}
	return out
}

// greet says what is running and what to do next.
func (c *ServeCmd) greet(a *app, cfg *config.Config, state *config.State, addr net.Addr, g *gateway) {
	a.printf("verifier listens on %s%s%s\n", scheme(cfg), addr, cfg.Webhook.Path)
	if c.Config != "" {
		a.printf("  config  %s\n", c.Config)
	}
	a.printf("  policy  %s\n  state   %s\n  record  %s\n", cmp.Or(cfg.Policy.Profile, "default"), storeName(cfg, state),
		recordName(cfg, state))
	if chats := slices.DeleteFunc(slices.Sorted(maps.Keys(g.channels)), func(name string) bool { return name == approval.Terminal }); len(chats) > 0 {
		a.printf("  chats   %s\n", strings.Join(chats, ", "))
	}
	greetPage(a, cfg, addr, g)
	ready := !cfg.Store.URL.Set() || greetStore(a, g) // it is met later, perhaps; a database that can't be used has ended this already
	if err := g.desk.CanAsk(); err != nil {
		a.printf("  warning %v: every call that needs a person is denied\n", err)
		ready = false
	}
	if c.AcceptLoss {
		a.printf("  The store's loss is accepted: new conversations start as usual. A session that ran before the loss may be tainted: restart it.\n")
	}
	a.printf("\n")
	if !ready {
		return
	}
	a.printf(`Try it from a second terminal: we don't know who started this call, so it waits for you.
  %[1]s send%[2]s --tool exec --params '{"command":"date"}'
Answer from a third:
  %[1]s watch%[2]s

`, typedProgram(), c.same(cfg, addr))
}

// greetStore says so at once where the store can't be used, and reports whether it can.
func greetStore(a *app, g *gateway) bool {
	ctx, cancel := context.WithTimeout(a.ctx, 400*time.Millisecond)
	defer cancel()
	err := g.store.Ready(ctx)
	if err != nil {
		a.printf("  warning the store can't be used, and every call is denied until it can:\n          %s\n",
			strings.ReplaceAll(err.Error(), "\n", "\n          "))
	}
	return err == nil
}

// same are the flags by which a command finds this server.
func (c *ServeCmd) same(cfg *config.Config, addr net.Addr) string {
	out := ""
	if c.Config != "" && c.Config != usualConfig() {
		out += " --config " + shellWord(c.Config)
	}
	if c.State != "" {
		out += " --state " + shellWord(c.State)
	}
	if c.Config != "" && !cfg.TLS.Set() && (c.Listen != "" || strings.HasSuffix(cfg.Listen, ":0")) {
		out += " --url " + scheme(cfg) + reachable(addr.String()) // else the config's address counts
	}
	return out
}

// shellWord is a path as it is typed in a shell.
func shellWord(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:"
	if strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// typedProgram is programName as it works in this directory: after `make run` the
// program is not where the shell looks for it.
func typedProgram() string {
	name := programName()
	exe, err := os.Executable()
	if found, lookErr := exec.LookPath(name); err != nil || strings.Contains(name, " ") || lookErr == nil && same(found, exe) {
		return name
	}
	here, err := os.Getwd()
	if rel, relErr := filepath.Rel(here, exe); err == nil && relErr == nil && filepath.IsLocal(rel) && strings.ContainsRune(rel, filepath.Separator) {
		return shellWord(rel)
	}
	return shellWord(exe)
}

// programName is how the reader can call this program again.
func programName() string {
	exe, err := os.Executable()
	if err != nil {
		return "verifier"
	}
	if strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ./cmd/verifier"
	}
	return filepath.Base(exe)
}

// newLog is the server's own log, as the config wants it. Its level can be
// changed while it is in use.
func newLog(w io.Writer, c config.Log, level *slog.LevelVar) *slog.Logger {
	level.Set(logLevel(c.Level))
	options := &slog.HandlerOptions{Level: level}
	if c.Format == config.LogJSON {
		return slog.New(server.WithRequestIDs(slog.NewJSONHandler(w, options)))
	}
	return slog.New(server.WithRequestIDs(slog.NewTextHandler(w, options)))
}

func logLevel(l config.LogLevel) slog.Level {
	return map[config.LogLevel]slog.Level{
		config.LogDebug: slog.LevelDebug, config.LogInfo: slog.LevelInfo, config.LogWarn: slog.LevelWarn, config.LogError: slog.LevelError,
	}[l]
}

// logFindings tells what is risky in a config.
func logFindings(log *slog.Logger, path string, findings []config.Finding) {
	for _, f := range findings {
		if f.Severity == config.Warning {
			log.Warn("config: "+f.String(), "at", place(path, f.Line, f.Col))
		}
	}
}

// logRefusal tells what is wrong with a config that was not taken, each thing in
// a line.
func logRefusal(log *slog.Logger, err error) {
	all, ok := errors.AsType[config.Errors](err)
	if !ok {
		log.Error("the config was not reloaded; the old one stays in force", "err", err)
		return
	}
	for _, e := range all {
		log.Error("config: "+e.Error(), "hint", e.Hint)
	}
	log.Error("the config was not reloaded; the old one stays in force", "errors", len(all))
}
