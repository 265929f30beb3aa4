package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/test/long"
)

// process is a gateway in a process of its own, which can be killed or kill
// itself. Its state is a rig's.
type process struct {
	*rig
	cmd   *exec.Cmd
	cards int           // how many it has shown
	dead  chan struct{} // closed when it has ended
}

// blow is when a process kills itself: before or after the n-th thing that
// the decision asks of the store or the record. Zero is never.
type blow struct {
	n      int
	before bool
}

func (m blow) String() string {
	if m.before {
		return fmt.Sprintf("before %d", m.n)
	}
	return fmt.Sprintf("after %d", m.n)
}

const (
	envState = "VERIFIER_TEST_PROCESS_STATE"
	envRedis = "VERIFIER_TEST_PROCESS_REDIS"
	envTTL   = "VERIFIER_TEST_PROCESS_TTL"
	envBlow  = "VERIFIER_TEST_PROCESS_BLOW"
)

// spawn starts the test program again as a gateway on the rig's state.
func (r *rig) spawn(m blow) *process {
	r.t.Helper()
	long.Only(r.t, "kill -9")
	p := &process{rig: r, dead: make(chan struct{})}
	r.screen = &output{}
	p.cmd = exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestGatewayProcess$")
	p.cmd.Env = append(os.Environ(), envState+"="+r.state.Dir(), envBlow+"="+m.String(), envTTL+"="+strconv.Itoa(r.cfg.ApprovalTTLSeconds))
	if r.cfg.Store.URL.Set() {
		p.cmd.Env = append(p.cmd.Env, envRedis+"="+r.cfg.Store.URL.Reveal())
	}
	p.cmd.Stdout, p.cmd.Stderr = r.screen, r.log
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.dead)
	}()
	r.t.Cleanup(p.kill)
	at := p.shows("its address", nil, func(screen string) string {
		_, address, _ := strings.Cut(screen, "listens on ")
		address, _, _ = strings.Cut(address, "\n")
		return address
	})
	if at == "" {
		r.t.Fatalf("the process did not start:\n%s%s", r.screen, r.log)
	}
	r.url = at
	return p
}

// kill is kill -9, and waits until it is over.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.dead
}

// shows waits until find makes something of the process's terminal; "" means
// that it died first, or that whoever is held has an answer already.
func (p *process) shows(what string, held <-chan answer, find func(screen string) string) string {
	p.t.Helper()
	deadline, tick := time.After(20*time.Second), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for {
		if found := find(p.screen.String()); found != "" {
			return found
		}
		if len(held) > 0 {
			return ""
		}
		select {
		case <-p.dead:
			return find(p.screen.String()) // it may have shown it since
		case <-deadline:
			p.t.Fatalf("the process does not show %s within 20 s:\n%s", what, p.screen)
		case <-tick.C:
		}
	}
}

// card waits for the next question, about a call that is held, and gives its
// reference.
func (p *process) card(held <-chan answer) string {
	p.t.Helper()
	ref := p.shows("the next question", held, func(screen string) string {
		cards := strings.Split(screen, "verifier pending ")[1:] // its last line
		if len(cards) > p.cards && len(cards[p.cards]) > 4 {
			return cards[p.cards][:4]
		}
		return ""
	})
	if ref != "" {
		p.cards++
	}
	return ref
}

// tell is the owner's answer; ok is false where the process died over it.
func (p *process) tell(in map[string]any) (v verdict, ok bool) {
	p.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.url+"/owner/answer", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	res, err := client.Do(req)
	if err != nil {
		return v, false
	}
	defer res.Body.Close()
	return v, json.UnmarshalRead(res.Body, &v) == nil
}

// attempt sends a call that the process may not survive.
func (p *process) attempt(c call) (answer, bool) {
	body := c.body()
	a, err := p.try(context.Background(), body, hmac.Sign([]byte(p.secret), body))
	return a, err == nil
}

// TestGatewayProcess is no test: it is what spawn starts. Without its
// environment it does nothing.
func TestGatewayProcess(t *testing.T) {
	dir := os.Getenv(envState)
	if dir == "" {
		return
	}
	state, err := config.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Webhook.Hold, cfg.Webhook.MaxHold = 30*time.Second, 30*time.Second
	if cfg.ApprovalTTLSeconds, err = strconv.Atoi(os.Getenv(envTTL)); err != nil {
		t.Fatal(err)
	}
	if url := os.Getenv(envRedis); url != "" {
		cfg.Store.URL = config.NewSecret(url)
	}
	l, err := loopback()
	if err != nil {
		t.Fatal(err)
	}
	// It is heard from here on, whenever it is served: the process may die of its first step.
	fmt.Printf("listens on http://%s\n", l.Addr())
	g, err := launch(cfg, state, l, os.Stdout, os.Stderr, fate(os.Getenv(envBlow)).between)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := g.Run(ctx, l); err != nil {
		t.Fatal(err)
	}
}

// steps counts what the decision asks of the store and the record, and ends the
// process at one of them.
type steps struct {
	at    blow
	count atomic.Int64
}

func fate(text string) *steps {
	when, n, _ := strings.Cut(text, " ")
	s := &steps{at: blow{before: when == "before"}}
	s.at.n, _ = strconv.Atoi(n)
	return s
}

// one counts a step; the function that it returns ends it.
func (s *steps) one() (done func()) {
	n := int(s.count.Add(1))
	if n == s.at.n && s.at.before {
		die()
	}
	return func() {
		if n == s.at.n && !s.at.before {
			die()
		}
	}
}

// die is kill -9 from within.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(errors.Join(errors.New("still alive"), err))
}

func (s *steps) between(b backend, l recordLog) (backend, recordLog) {
	return &mortalStore{b, s}, &mortalRecord{l, s}
}

type mortalRecord struct {
	recordLog
	s *steps
}

func (m *mortalRecord) Append(e audit.Entry) error {
	defer m.s.one()()
	return m.recordLog.Append(e)
}

// mortalStore counts all that a decision and an answer ask of a store.
type mortalStore struct {
	backend
	s *steps
}

func (m *mortalStore) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	defer m.s.one()()
	return m.backend.Admit(ctx, a)
}

func (m *mortalStore) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	defer m.s.one()()
	return m.backend.Settle(ctx, s)
}

func (m *mortalStore) Deny(ctx context.Context, d session.Denial) error {
	defer m.s.one()()
	return m.backend.Deny(ctx, d)
}

func (m *mortalStore) Link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	defer m.s.one()()
	return m.backend.Link(ctx, child, parent)
}

func (m *mortalStore) Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error {
	defer m.s.one()()
	return m.backend.Raise(ctx, c, to, source)
}

func (m *mortalStore) Place(ctx context.Context, d approval.Draft) (approval.Placement, error) {
	defer m.s.one()()
	return m.backend.Place(ctx, d)
}

func (m *mortalStore) Load(ctx context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	defer m.s.one()()
	return m.backend.Load(ctx, ids...)
}

func (m *mortalStore) Swap(ctx context.Context, c approval.Change) error {
	defer m.s.one()()
	return m.backend.Swap(ctx, c)
}

func (m *mortalStore) Open(ctx context.Context) ([]string, error) {
	defer m.s.one()()
	return m.backend.Open(ctx)
}
