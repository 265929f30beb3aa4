// Package gateway runs the real program for tests: verifier serve on a loopback port with a state directory of its own,
// and a client that signs calls, tells events and answers as the owner. It is for tests only.
package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// Gateway is a running gateway.
type Gateway struct {
	URL    string
	Secret string
	Token  string
	Config string // the text of its config
	State  *config.State
	Log    *Output // all that it logged
	Screen *Output // all that it printed
	Redis  *redistest.Server
	Client *http.Client // nil: one that speaks no TLS

	t    testing.TB
	dir  string
	cmd  *exec.Cmd
	dead chan struct{}
}

// Output collects what is written, from any goroutine.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Program is the path of the binary, built once.
func Program(t testing.TB) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "verifier-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "verifier")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", path,
		"github.com/openclaw-verifier/verifier/cmd/verifier")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(said)))
	}
	return path, nil
})

// Start starts a gateway on SQLite, with this config (YAML; empty: none). Held calls are held briefly, so that a test
// that forgets to answer fails soon.
func Start(t testing.TB, yaml string) *Gateway { return start(t, yaml, nil) }

// StartOnRedis is Start on a real Redis.
func StartOnRedis(t testing.TB, yaml string) *Gateway {
	t.Helper()
	return start(t, yaml, redistest.Start(t))
}

// OnBoth runs a test on SQLite and on a real Redis. make test leaves the second out.
func OnBoth(t *testing.T, yaml string, test func(t *testing.T, g *Gateway)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, Start(t, yaml)) })
	t.Run("redis", func(t *testing.T) { t.Parallel(); test(t, StartOnRedis(t, yaml)) })
}

func start(t testing.TB, yaml string, redis *redistest.Server) *Gateway {
	t.Helper()
	g := &Gateway{t: t, dir: t.TempDir(), Config: yaml, Redis: redis}
	state, err := config.OpenState(filepath.Join(g.dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	g.State = state
	g.Begin()
	t.Cleanup(func() { g.Kill() })
	return g
}

// ConfigFile is where the gateway's config is.
func (g *Gateway) ConfigFile() string { return filepath.Join(g.dir, "verifier.yaml") }

// WriteConfig writes the config that the next Begin, or a reload, reads.
func (g *Gateway) WriteConfig(yaml string) {
	g.t.Helper()
	g.Config = yaml
	if g.Redis != nil {
		yaml += "\nstore: {url: \"" + g.Redis.URL() + "\"}\n"
	}
	if !strings.Contains(yaml, "webhook:") {
		yaml += "\nwebhook: {hold: 5s, maxHold: 10s}\n"
	}
	if err := os.WriteFile(g.ConfigFile(), []byte(yaml), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// Begin runs the gateway, with more flags; after a stop it comes back with the same state.
func (g *Gateway) Begin(flags ...string) {
	g.t.Helper()
	g.WriteConfig(g.Config)
	g.Log, g.Screen = &Output{}, &Output{}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--config", g.ConfigFile(), "--state", g.State.Dir()}
	g.cmd = exec.CommandContext(context.Background(), Program(g.t), append(args, flags...)...)
	g.cmd.Env = append(os.Environ(), "HOME="+g.dir, "GORACE=atexit_sleep_ms=0")
	g.cmd.Stdout, g.cmd.Stderr = g.Screen, g.Log
	g.dead = make(chan struct{})
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	go func(cmd *exec.Cmd, dead chan struct{}) {
		_ = cmd.Wait()
		close(dead)
	}(g.cmd, g.dead)
	redistest.Eventually(g.t, "the gateway says where it listens", func() bool {
		select {
		case <-g.dead:
			g.t.Fatalf("the gateway did not start:\n%s%s", g.Screen, g.Log)
		default:
		}
		_, rest, found := strings.Cut(g.Screen.String(), "listens on ")
		url, _, whole := strings.Cut(rest, "\n")
		g.URL = strings.TrimSuffix(url, "/verify")
		return found && whole
	})
	g.Secret, g.Token = g.credentials()
}

func (g *Gateway) credentials() (secret, token string) {
	s, err := g.State.WebhookSecret()
	if err != nil {
		g.t.Fatal(err)
	}
	o, err := g.State.OwnerToken()
	if err != nil {
		g.t.Fatal(err)
	}
	return s.Reveal(), o.Reveal()
}

// Kill is kill -9, and waits until it is over.
func (g *Gateway) Kill() {
	_ = g.cmd.Process.Kill()
	<-g.dead
}

// Quit is SIGTERM; it gives how long the gateway took to end.
func (g *Gateway) Quit() time.Duration {
	g.t.Helper()
	began := time.Now()
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.dead:
	case <-time.After(20 * time.Second):
		g.t.Errorf("the gateway does not end:\n%s", g.Log)
		g.Kill()
	}
	return time.Since(began)
}

// Restart ends the gateway and starts it again.
func (g *Gateway) Restart() {
	g.t.Helper()
	g.Quit()
	g.Begin()
}

// Reload has the gateway read another config, and waits until the log tells how that went.
func (g *Gateway) Reload(yaml string) {
	g.t.Helper()
	g.WriteConfig(yaml)
	before := strings.Count(g.Log.String(), "reloaded")
	g.Signal(syscall.SIGHUP)
	redistest.Eventually(g.t, "the reload is told", func() bool {
		return strings.Count(g.Log.String(), "reloaded") > before
	})
}

// Signal sends a signal to the gateway's process.
func (g *Gateway) Signal(s os.Signal) {
	g.t.Helper()
	if err := g.cmd.Process.Signal(s); err != nil {
		g.t.Fatal(err)
	}
}

// OpenFiles is how many files and connections the gateway's process holds, where the system says so.
func (g *Gateway) OpenFiles() int {
	g.t.Helper()
	open, err := os.ReadDir("/proc/" + strconv.Itoa(g.cmd.Process.Pid) + "/fd")
	if err != nil {
		g.t.Skip(err)
	}
	return len(open)
}

// Run runs a command of the program on the gateway's state and config, and gives what it printed and its exit code.
func (g *Gateway) Run(args ...string) (out string, code int) {
	g.t.Helper()
	cmd := exec.CommandContext(context.Background(), Program(g.t), args...)
	cmd.Env = append(os.Environ(), "HOME="+g.dir, "VERIFIER_STATE="+g.State.Dir(), "VERIFIER_CONFIG="+g.ConfigFile())
	said, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(said), exit.ExitCode()
	} else if err != nil {
		g.t.Fatal(err)
	}
	return string(said), 0
}

// client waits for longer than any test holds a call.
var client = &http.Client{
	Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableKeepAlives: true}, Timeout: 70 * time.Second,
}

func (g *Gateway) http() *http.Client {
	if g.Client != nil {
		return g.Client
	}
	return client
}

// Raw is an answer as it came.
type Raw struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and reads the whole answer.
func (g *Gateway) Do(req *http.Request) Raw {
	g.t.Helper()
	res, err := g.http().Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return Raw{res.StatusCode, res.Header, text}
}
