package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a program that is started, killed and started again. Its methods are safe for concurrent use.
type process struct {
	name string
	log  string
	make func() *exec.Cmd

	mu   sync.Mutex
	cmd  *exec.Cmd
	dead chan struct{} // closed when it has ended
	code int           // of the last end
	pid  atomic.Int64  // of the last start
}

// start runs it, unless it runs.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return nil
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := p.make()
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Start()
	_ = log.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	dead := make(chan struct{})
	p.cmd, p.dead = cmd, dead
	p.pid.Store(int64(cmd.Process.Pid))
	go func() {
		_ = cmd.Wait()
		p.mu.Lock()
		p.cmd, p.code = nil, cmd.ProcessState.ExitCode()
		p.mu.Unlock()
		close(dead)
	}()
	return nil
}

// signal sends a signal, if it runs.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// end sends a signal and waits until the program has ended, for some time.
func (p *process) end(s syscall.Signal, most time.Duration) error {
	p.mu.Lock()
	running, dead := p.cmd != nil, p.dead
	p.mu.Unlock()
	if !running {
		return nil
	}
	p.signal(s)
	select {
	case <-dead:
		return nil
	case <-time.After(most):
		return fmt.Errorf("%s did not end within %v of signal %v", p.name, most, s)
	}
}

func (p *process) kill() error { return p.end(syscall.SIGKILL, 10*time.Second) }

// freePort is a loopback port that nothing listens on at this moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it lasts for a moment
	if err != nil {
		return 0, err
	}
	addr, _ := l.Addr().(*net.TCPAddr)
	return addr.Port, l.Close()
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// tools are the programs that a run starts.
type tools struct {
	verifier, toxiproxy, redis string
	shim                       string // preloaded into Redis; "" where there is no compiler
	strace                     string // "" where it is missing or not allowed
}

// prepare builds and finds them. What a run can do without is left out.
func prepare(ctx context.Context, dir, toxiproxy string) (t tools, err error) {
	if toxiproxy == "" {
		return t, errors.New("-toxiproxy is missing: run `make chaos`, which builds it")
	}
	t.toxiproxy = toxiproxy
	if t.redis, err = exec.LookPath("redis-server"); err != nil {
		return t, errors.New("redis-server is not installed: run `make chaos`, which installs it")
	}
	t.verifier = filepath.Join(dir, "verifier")
	if err := command(ctx, "go", "build", "-o", t.verifier, "./cmd/verifier"); err != nil {
		return t, err
	}
	shim := filepath.Join(dir, "shim.so")
	source := "test/chaos/shim/redis.c"
	if runtime.GOOS == "linux" && command(ctx, "cc", "-O1", "-shared", "-fPIC", "-o", shim, source) == nil {
		t.shim = shim
	}
	if path, err := exec.LookPath("strace"); err == nil && command(ctx, path, "-o", os.DevNull, "true") == nil {
		t.strace = path
	}
	return t, nil
}

func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
