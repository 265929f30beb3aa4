package redis_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a real redis-server on a loopback port.
type server struct {
	t     testing.TB
	port  int
	args  []string
	cmd   *exec.Cmd
	admin *goredis.Client
	dbs   atomic.Int64
}

// startServer starts one, with more arguments if need be.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not installed: run make test, it installs it")
	}
	s := &server{t: t, port: freePort(t), args: args}
	s.admin = goredis.NewClient(&goredis.Options{Addr: s.addr(), MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() {
		s.admin.Close()
		s.stop()
	})
	s.start()
	return s
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", l.Addr())
	}
	return addr.Port
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// start begins an empty server and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	args := append([]string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.t.TempDir(),
		"--save", "", "--appendonly", "no", "--databases", "20000", "--maxclients", "9000"}, s.args...)
	s.cmd = exec.CommandContext(context.WithoutCancel(s.t.Context()), "redis-server", args...) // ended by stop
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "redis-server answers", func() bool { return s.admin.Ping(context.Background()).Err() == nil })
}

// stop ends the server; all it held is gone.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) config(pairs ...string) {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.admin.ConfigSet(context.Background(), pairs[i], pairs[i+1]).Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// patient is a timeout for tests that are not about time: a busy machine under
// the race detector may take longer than we would let a call wait.
const patient = 10 * time.Second

// open gives a store with a database of its own. The clock is real.
func (s *server) open(t *testing.T) storetest.Harness {
	t.Helper()
	db := int(s.dbs.Add(1))
	h := harness(t, fmt.Sprintf("redis://%s/%d", s.addr(), db), goredis.Options{Addr: s.addr(), DB: db})
	h.Real = true
	h.Advance = func(d time.Duration) { <-time.After(d) }
	return h
}

// openMini gives a store on a server of its own whose clock stands still.
func openMini(t *testing.T) storetest.Harness { return mini(t, true) }

// openLate is one where no key ever expires: only the times in the values tell.
func openLate(t *testing.T) storetest.Harness { return mini(t, false) }

func mini(t *testing.T, expires bool) storetest.Harness {
	t.Helper()
	m := miniredis.RunT(t)
	password := rand.Text()
	m.RequireAuth(password)
	now := time.UnixMilli(1_700_000_000_000)
	m.SetTime(now)
	h := harness(t, "redis://:"+password+"@"+m.Addr(), goredis.Options{Addr: m.Addr(), Password: password})
	h.Advance = func(d time.Duration) {
		now = now.Add(d)
		m.SetTime(now)
		if expires {
			m.FastForward(d)
		}
	}
	return h
}

func harness(t *testing.T, url string, o goredis.Options) storetest.Harness {
	t.Helper()
	o.Protocol, o.DisableIdentity = 2, true
	admin := goredis.NewClient(&o)
	t.Cleanup(func() { admin.Close() })
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return storetest.Harness{
		Store:  open(t, url, redis.Options{Epoch: epoch(t), Timeout: patient}),
		Forget: func(c session.Conversation) { do(admin.Del(context.Background(), redis.StateKey(c)).Err()) },
		Flush:  func() { do(admin.FlushDB(context.Background()).Err()) },
	}
}

func open(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func epoch(t testing.TB) *store.Epoch {
	t.Helper()
	return epochAt(t, filepath.Join(t.TempDir(), "epoch"))
}

func epochAt(t testing.TB, path string) *store.Epoch {
	t.Helper()
	e, err := store.OpenEpoch(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline, tick := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within 10 s: %s", what)
		case <-tick.C:
		}
	}
}
