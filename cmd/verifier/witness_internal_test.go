package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels/terminal"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// impatient makes a call that can't wait: a question about it is put, and it is
// denied at once with the question's reference.
func impatient(c call) call {
	c.context = with(c.context, "waitMs", 1)
	return c
}

func sh(command string, context map[string]any) call {
	return call{tool: "exec", params: `{"command":"` + command + `"}`, context: context}
}

func fetch(context map[string]any) call {
	return call{tool: "web_fetch", params: `{"url":"https://example.com/page"}`, context: context}
}

// spawned is the context of a session that another one started.
func spawned(session, by string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:" + session, "spawnedBy": "agent:main:" + by}
}

// mustAsk says that a call must be put to a person.
func (r *rig) mustAsk(c call) answer {
	r.t.Helper()
	a := r.persist(impatient(c))
	if a.status != http.StatusOK || a.Decision != "deny" || a.Ref == "" {
		r.t.Errorf("%s %s in %v: got %d %s, want it to be asked about", c.tool, c.params, c.context["sessionKey"], a.status, a.raw)
	}
	return a
}

// consented sends a call that needs a person, and the person says yes.
func (r *rig) consented(c call, minutes int) answer {
	r.t.Helper()
	before := map[string]bool{}
	for _, k := range r.pending() {
		before[k.Ref] = true
	}
	held := r.hold(c)
	var ref string
	redistest.Eventually(r.t, "a question about "+c.params+" waits", func() bool {
		for _, k := range r.pending() {
			if !before[k.Ref] {
				ref = k.Ref
			}
		}
		return ref != ""
	})
	v := r.approve(ref, minutes)
	for try := 0; v.status == http.StatusServiceUnavailable && try < 10; try++ { // "try again", a busy store says
		v = r.approve(ref, minutes)
	}
	if v.Kind != "counted" {
		r.t.Errorf("the owner's yes is told %+v", v)
	}
	a := <-held
	if !a.allowed() {
		r.t.Errorf("%s %s after a yes: got %s", c.tool, c.params, a.raw)
	}
	return a
}

func (r *rig) restart() {
	r.t.Helper()
	r.quit()
	r.start()
}

// conversation is a session of the rig's client.
func conversation(name string) session.Conversation {
	return session.Conversation{Client: config.DefaultClient, Key: "agent:main:" + name}
}

// decided is what the record says was decided, in its order.
func (r *rig) decided() (out []audit.Entry) {
	r.t.Helper()
	for e, err := range audit.Read(bytes.NewReader(r.recorded())) {
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Kind == audit.KindDecision {
			out = append(out, e.Entry)
		}
	}
	return out
}

// last is the record of the last decision. A deny is answered before it is recorded.
func (r *rig) last() (e audit.Entry) {
	r.t.Helper()
	redistest.Eventually(r.t, "every answer is recorded", func() bool {
		all := r.decided()
		if len(all) == 0 || len(all) < int(atomic.LoadInt64(&r.answered)) {
			return false
		}
		e = all[len(all)-1]
		return true
	})
	return e
}

func (r *rig) recorded() []byte {
	r.t.Helper()
	text, err := os.ReadFile(recordPath(r.cfg, r.state))
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// soundRecord verifies the record against its key and the store's head. Nobody
// may be writing it.
func (r *rig) soundRecord() {
	r.t.Helper()
	key, err := r.state.RecordKey()
	if err != nil {
		r.t.Fatal(err)
	}
	head, err := recordHead(r.state, r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	public, _ := key.Public().(ed25519.PublicKey)
	if _, err := audit.VerifyFiles([]string{recordPath(r.cfg, r.state)}, audit.VerifyOptions{Key: public, Head: head}); err != nil {
		r.t.Errorf("the record: %v", err)
	}
}

// ready is what /readyz says.
func (r *rig) ready() (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+"/readyz", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	a := exchange(r.t, client, req)
	return a.status, string(a.body)
}

// byHand runs a statement on the embedded store's file, as a person with
// sqlite3 would.
func (r *rig) byHand(statement string, args ...any) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+r.state.DB()+"?_pragma=busy_timeout(10000)")
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = db.ExecContext(context.Background(), statement, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		r.t.Fatal(err)
	}
}

func loopback() (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(context.Background(), "tcp", "127.0.0.1:0")
}

// between is something that stands between the decision and what it writes to.
type between func(backend, recordLog) (backend, recordLog)

// launch opens a gateway as serve does.
func launch(cfg *config.Config, state *config.State, l net.Listener, screen, log io.Writer, b between) (*gateway, error) {
	return openGateway(setup{
		config: cfg, state: state, guarded: guard(cfg, "", state, l.Addr()), between: b,
		chats: builtin, channels: map[string]approval.Channel{"terminal": terminal.New(screen)},
		log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

// restartBehind starts the gateway again with something in between.
func (r *rig) restartBehind(b between) {
	r.t.Helper()
	r.quit()
	l, err := loopback()
	if err != nil {
		r.t.Fatal(err)
	}
	g, err := launch(r.cfg, r.state, l, r.screen, r.log, b)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, l) }()
	r.url = "http://" + l.Addr().String()
	r.quit = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the gateway ended with: %v", err)
		}
	})
}

// cold is a rig that is not started: its state and its credentials.
func cold(t *testing.T, edit func(*config.Config)) *rig {
	t.Helper()
	cfg := config.Default()
	cfg.Webhook.Hold, cfg.Webhook.MaxHold = 5*time.Second, 10*time.Second
	if edit != nil {
		edit(cfg)
	}
	state, err := config.OpenState(inMemory(t) + "/state")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, cfg: cfg, state: state, log: &output{}, screen: &output{}, quit: func() {}}
	r.secret, r.token = r.credentials()
	t.Cleanup(func() { r.quit() })
	return r
}

// inMemory is a directory that outlives kill -9 as a disk does, and costs no
// sync.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "verifier-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
