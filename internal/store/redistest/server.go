// Package redistest runs a real redis-server on loopback for tests: it starts
// it, makes it hang, limits it, and ends it. It is for tests only.
package redistest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/test/long"
)

// Server is a real redis-server on a loopback port. It keeps nothing on disk, so
// that Stop and Begin lose everything.
type Server struct {
	Admin *goredis.Client
	Port  int
	Args  []string // beyond the usual ones
	Env   []string // beyond this process's own

	t   testing.TB
	cmd *exec.Cmd
}

// Start starts a server that ends with the test. Args are options for
// redis-server beyond the usual ones.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartWith(t, nil, args...)
}

// StartWith is Start with more in the server's environment.
func StartWith(t testing.TB, env []string, args ...string) *Server {
	t.Helper()
	long.Only(t, "a real Redis")
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not installed: run make test, it installs it")
	}
	s := &Server{t: t, Port: FreePort(t), Args: args, Env: env}
	s.Admin = goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() {
		if err := s.Admin.Close(); err != nil {
			t.Error(err)
		}
		s.Stop()
	})
	s.Begin()
	return s
}

// FreePort is a loopback port that nothing listens on at this moment. It is below those that the system gives to listeners and
// connections which name none: one of these could take it before the server does, or while that is down.
func FreePort(t testing.TB) int {
	t.Helper()
	var lc net.ListenConfig
	for range 100 {
		var some [2]byte
		_, _ = rand.Read(some[:]) // it never fails
		port := 20_000 + int(binary.BigEndian.Uint16(some[:]))%12_000
		l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port of a hundred is free")
	return 0
}

// Addr is host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL is the server's first database.
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Begin starts an empty server and waits until it answers.
func (s *Server) Begin() {
	s.t.Helper()
	usual := []string{
		"--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.t.TempDir(),
		"--save", "", "--appendonly", "no", "--databases", "20000", "--maxclients", "9000",
	}
	s.cmd = exec.CommandContext(context.WithoutCancel(s.t.Context()), "redis-server", append(usual, s.Args...)...) //nolint:gosec // a test's own options; ended by Stop
	s.cmd.Env = append(os.Environ(), s.Env...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	Eventually(s.t, "redis-server answers", func() bool { return s.Admin.Ping(context.Background()).Err() == nil })
}

// Stop ends the server; all it held is gone.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Signal sends a signal: SIGSTOP makes the server hang, SIGCONT go on.
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Config sets parameters, given as names and values in turn.
func (s *Server) Config(pairs ...string) {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Admin.ConfigSet(context.Background(), pairs[i], pairs[i+1]).Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}
