package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/terminal"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// rig is a whole gateway on a loopback port, and a client that signs.
type rig struct {
	t      testing.TB
	cfg    *config.Config
	state  *config.State
	url    string
	secret string
	token  string
	log    *output // all that was logged
	screen *output // all that the terminal showed
	quit   func()  // stops it as SIGTERM does
	redis  *redistest.Server
	desk   *approval.Desk
	g      *gateway

	channels map[string]approval.Channel // those it asks on; nil: the terminal
	client   *http.Client                // nil: one that speaks no TLS
	time     storeTime                   // what SQLite tells the time by; the zero one is real
	// how long a call waits for others of its turn; 0: a millisecond, so that tests that ask much are quick
	together time.Duration
	answered int64 // calls that were decided, by what their callers heard
	// the store breaks in this test: a caller waits no longer for it than the product does
	faults     bool
	acceptLoss bool // of the store, at the next start
}

// output collects what is written, from any goroutine.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// onBoth runs a test on SQLite and on a real Redis.
func onBoth(t *testing.T, edit func(*config.Config), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newRig(t, edit)) })
	t.Run("redis", func(t *testing.T) { test(t, newRedisRig(t, edit)) })
}

func newRedisRig(t testing.TB, edit func(*config.Config)) *rig {
	t.Helper()
	return startRig(t, redistest.Start(t), false, edit)
}

// newRig starts a gateway with a fresh state directory. Held calls are held
// briefly, so that a test that forgets to answer fails soon.
func newRig(t testing.TB, edit func(*config.Config)) *rig {
	t.Helper()
	return startRig(t, nil, false, edit)
}

func startRig(t testing.TB, redis *redistest.Server, faults bool, edit func(*config.Config)) *rig {
	t.Helper()
	cfg := config.Default()
	if redis != nil {
		cfg.Store.URL = config.NewSecret(redis.URL())
	}
	cfg.Listen = "127.0.0.1:0"
	cfg.Webhook.Hold, cfg.Webhook.MaxHold = 5*time.Second, 10*time.Second
	if edit != nil {
		edit(cfg)
	}
	state, err := config.OpenState(t.TempDir() + "/state")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, cfg: cfg, state: state, log: &output{}, screen: &output{}, redis: redis, faults: faults}
	r.start()
	t.Cleanup(func() { r.quit() })
	return r
}

// newFaultyRig is one whose Redis will break: only there a caller waits no longer
// for the store than the product lets it. Everywhere else a busy machine must not
// pass for a broken store.
func newFaultyRig(t testing.TB, edit func(*config.Config)) *rig {
	t.Helper()
	return startRig(t, redistest.Start(t), true, edit)
}

// start runs the gateway; after a stop it comes back with the same state.
func (r *rig) start() {
	r.t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	if r.channels == nil {
		r.channels = map[string]approval.Channel{"terminal": terminal.New(r.screen)}
	}
	times := r.time
	if !r.faults {
		times.waits = 20 * time.Second
	}
	g, err := openGateway(setup{
		config: r.cfg, state: r.state, guarded: guard(r.cfg, "", r.state, l.Addr()),
		chats: builtin, channels: r.channels,
		log: newLog(r.log, config.Log{Level: config.LogDebug}, &slog.LevelVar{}), time: times,
		together:   cmp.Or(r.together, time.Millisecond),
		acceptLoss: r.acceptLoss,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.desk, r.g = g.desk, g
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, l) }()
	r.url = scheme(r.cfg) + l.Addr().String()
	r.quit = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the gateway ended with: %v", err)
		}
	})
	r.secret, r.token = r.credentials()
}

func (r *rig) credentials() (secret, token string) {
	s, err := r.state.WebhookSecret()
	if err != nil {
		r.t.Fatal(err)
	}
	o, err := r.state.OwnerToken()
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Reveal(), o.Reveal()
}

var requests atomic.Int64

// call is one tool call to send.
type call struct {
	tool    string
	params  string // JSON; empty means {}
	id      string // request id; empty means a fresh one
	at      time.Time
	context map[string]any
}

// ownerIn is the context of a direct message from the owner, in a session.
func ownerIn(session string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:" + session, "senderId": "1", "senderIsOwner": true}
}

// with adds members to a context.
func with(ctx map[string]any, pairs ...any) map[string]any {
	out := map[string]any{}
	for k, v := range ctx {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		name := fmt.Sprint(pairs[i])
		if out[name] = pairs[i+1]; out[name] == nil {
			delete(out, name)
		}
	}
	return out
}

func (c call) body() []byte {
	if c.params == "" {
		c.params = "{}"
	}
	if c.id == "" {
		c.id = fmt.Sprintf("request-%d", requests.Add(1))
	}
	if c.at.IsZero() {
		c.at = time.Now()
	}
	ctx, err := json.Marshal(c.context, json.Deterministic(true))
	if err != nil || c.context == nil {
		ctx = []byte("{}")
	}
	name, _ := json.Marshal(c.tool)
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"tool":{"name":%s,"params":%s},"context":%s}`,
		c.at.UTC().Format(time.RFC3339Nano), c.id, name, c.params, ctx)
}

// answer is what a client gets.
type answer struct {
	status   int
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Ref      string `json:"ref"`
	Question string `json:"question"` // what the client asks about later
	raw      string
	rid      string // the id of the HTTP request
	took     time.Duration
}

func (a answer) allowed() bool { return a.status == 200 && a.Decision == "allow" }

// post sends raw bytes with a signature header of its own.
func (r *rig) post(body []byte, signatures ...string) answer {
	r.t.Helper()
	a, err := r.try(context.Background(), body, signatures...)
	if err != nil {
		r.t.Error(err)
	}
	return a
}

func (r *rig) try(ctx context.Context, body []byte, signatures ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/verify", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header[hmac.RequestHeader] = nil
	for _, s := range signatures {
		req.Header.Add(hmac.RequestHeader, s)
	}
	started := time.Now()
	res, err := r.http().Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, raw: string(text), rid: res.Header.Get(server.RequestIDHeader),
		took: time.Since(started)}
	if a.status == http.StatusOK {
		if err := json.Unmarshal(text, &a); err != nil {
			return a, fmt.Errorf("read %q: %w", text, err)
		}
		atomic.AddInt64(&r.answered, 1)
	}
	return a, nil
}

// exchange sends a request and reads the whole answer.
func exchange(t testing.TB, by *http.Client, req *http.Request) heard {
	t.Helper()
	res, err := by.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return heard{res.StatusCode, res.Header, text}
}

// heard is an answer as it came.
type heard struct {
	status int
	header http.Header
	body   []byte
}

// client waits for longer than any test holds a call.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableKeepAlives: true},
	Timeout: 70 * time.Second}

func (r *rig) http() *http.Client {
	if r.client != nil {
		return r.client
	}
	return client
}

// send signs a call and sends it.
func (r *rig) send(c call) answer {
	r.t.Helper()
	body := c.body()
	return r.post(body, hmac.Sign([]byte(r.secret), body))
}

// hold sends a call and lets it wait; again, where the store was too slow to ask
// anyone.
func (r *rig) hold(c call) <-chan answer {
	out := make(chan answer, 1)
	body := c.body()
	go func() {
		var a answer
		for try := 0; try == 0 || try < 10 && a.late() && a.Ref == ""; try++ {
			var err error
			if a, err = r.try(context.Background(), body, hmac.Sign([]byte(r.secret), body)); err != nil {
				a.raw = err.Error()
			}
			body = c.body()
		}
		out <- a
	}()
	return out
}

// late reports a deny because the store was too slow, as a busy machine's is.
func (a *answer) late() bool { return strings.Contains(a.Reason, "store can't be reached") }

// persist sends a call again where the store was too slow. That is what the
// answer asks for.
func (r *rig) persist(c call) (a answer) {
	r.t.Helper()
	for range 10 {
		if a = r.send(c); !a.late() {
			return a
		}
	}
	return a
}

// allow and deny say what must become of a call.
func (r *rig) allow(c call) answer {
	r.t.Helper()
	a := r.persist(c)
	if !a.allowed() {
		r.t.Errorf("%s %s: got %d %s, want allow", c.tool, c.params, a.status, a.raw)
	}
	return a
}

func (r *rig) deny(c call) answer {
	r.t.Helper()
	a := r.send(c)
	if a.status != http.StatusOK || a.Decision != "deny" || a.Reason == "" {
		r.t.Errorf("%s %s: got %d %s, want a deny with a reason", c.tool, c.params, a.status, a.raw)
	}
	return a
}

// twin sends the very same bytes again.
func (r *rig) twin(body []byte) answer {
	r.t.Helper()
	return r.post(body, hmac.Sign([]byte(r.secret), body))
}

// execWith is a command with other params of OpenClaw's exec.
func execWith(command, more string, context map[string]any) call {
	return call{tool: "exec", params: fmt.Sprintf(`{"command":%q,%s}`, command, more), context: context}
}

// sendsTo is a message to someone.
func sendsTo(to, text string, m map[string]any) call {
	return call{tool: "message", params: fmt.Sprintf(`{"action":"send","target":%q,"text":%q}`, to, text), context: m}
}

// The ids are OpenClaw's, and so are the shapes of what follows: a run of a job's
// own session says nothing of who started it, and looks like a webhook's.

// asks sends a call that must wait for a person, says no, and returns the card.
func (r *rig) asks(c call) string {
	r.t.Helper()
	r.deny(c)
	card := r.waits()
	r.refuse(card.Ref, "")
	return strings.Join(strings.Fields(card.Text), " ")
}

// approved lets a call pass by a person's yes.
func (r *rig) approved(c call, minutes int) {
	r.t.Helper()
	held := r.hold(c)
	card := r.waits()
	if v := r.approve(card.Ref, minutes); v.status != http.StatusOK {
		r.t.Fatalf("%+v", v)
	}
	if a := <-held; !a.allowed() {
		r.t.Fatalf("%s: %s", c.params, a.raw)
	}
}

func writes(path, content string, m map[string]any) call {
	return call{tool: "write", params: fmt.Sprintf(`{"path":%q,"content":%q}`, path, content), context: m}
}

// unvouched is a run that nobody vouches for: every acting call is asked about.
func unvouched(session string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:" + session}
}

// record is the whole record as it stands on disk.
func (r *rig) record() string {
	r.t.Helper()
	text, err := os.ReadFile(r.state.Record())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// program is the real one, and all that it has printed.
type program struct {
	t          testing.TB
	dir        string
	out, err   output
	background *exec.Cmd
}

func (p *program) command(out *output, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "verifier", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "VERIFIER_STATE="+p.dir+"/state")
	cmd.Stdout, cmd.Stderr = out, &p.err
	return cmd
}

func (p *program) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// serve starts it in the background and waits until it listens.
func (p *program) serve(configFile string) (url string) {
	p.t.Helper()
	p.background = p.command(&p.out, "serve", "--config", configFile)
	if err := p.background.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.stop)
	redistest.Eventually(p.t, "it listens", func() bool {
		_, rest, ok := strings.Cut(p.out.String(), "listens on ")
		url, _, _ = strings.Cut(rest, "/verify")
		return ok && strings.Contains(rest, "/verify")
	})
	return url
}

// stop is SIGTERM.
func (p *program) stop() {
	if p.background == nil {
		return
	}
	_ = p.background.Process.Signal(syscall.SIGTERM)
	_ = p.background.Wait()
	p.background = nil
}

// forgedLine is an allow that fits behind a record: its number, the hash before it
// and its own hash are right. None of that needs a key.
func forgedLine(raw []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	var last struct {
		Seq  int    `json:"seq"`
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		panic(err)
	}
	body := fmt.Sprintf(
		`{"seq":%d,"prev":"%s","kind":"decision","at":"2026-10-03T14:02:11Z","tool":"exec",`+
			`"decision":"allow","by":"person"`, last.Seq+1, last.Hash)
	return fmt.Appendf(nil, "%s,\"hash\":\"%x\"}\n", body, sha256.Sum256([]byte(body)))
}

// Ways to write files that no card shows, after which builds ask.

// turnIn is a turn of the owner's in a conversation that has read a page.
func (r *rig) turnIn(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "runId", "run-"+name, "sessionId", "s-"+name, "waitMs", 9001)
	r.allow(fetch(m))
	return m
}

// soonAsked makes a call that must ask wait only a moment.
func soonAsked(c call) call {
	c.context = with(c.context, "waitMs", 5001)
	return c
}
