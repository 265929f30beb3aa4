package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// process is a server that runs, as this side sees it.
type process struct {
	role
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	address string
}

// usage is what a server has used so far.
type usage struct {
	cpu   time.Duration // user and system, all threads
	trips int64
}

// startServer starts this program again, in a role.
func startServer(ctx context.Context, r role, o options, dir, redis string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{role: r, cmd: exec.CommandContext(ctx, self)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+r.name, dirVariable+"="+dir, redisVariable+"="+redis, othersVariable+"="+o.others)
	if o.cpuprofile != "" {
		p.cmd.Env = append(p.cmd.Env, profileVariable+"="+filepath.Join(o.cpuprofile, r.name+".pprof"))
	}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanln(p.stdout, &p.address); err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not start: %w", r.name, err), p.stop())
	}
	return p, nil
}

func (p *process) usage() (usage, error) {
	var u usage
	var ns int64
	err := p.ask(askUsed, &ns, &u.trips)
	u.cpu = time.Duration(ns)
	return u, err
}

// memory is what the server keeps now.
func (p *process) memory() (m memory, err error) {
	return m, p.ask(askMemory, &m.grown, &m.resident, &m.heap, &m.stacks)
}

// asked is how many questions the server has put to people so far.
func (p *process) asked() (n int64, err error) { return n, p.ask(askAsked, &n) }

// ask has the server say something about itself, in numbers.
func (p *process) ask(what string, into ...any) error {
	if _, err := fmt.Fprintln(p.stdin, what); err != nil {
		return fmt.Errorf("%s has ended: %w", p.name, err)
	}
	if _, err := fmt.Fscanln(p.stdout, into...); err != nil {
		return fmt.Errorf("%s did not say %s: %w", p.name, what, err)
	}
	return nil
}

// stop lets the server end by itself.
func (p *process) stop() error {
	if err := errors.Join(p.stdin.Close(), p.cmd.Wait()); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// redisServer is a real Redis on a loopback port that keeps nothing on disk.
type redisServer struct {
	cmd     *exec.Cmd
	address string
}

func startRedis(ctx context.Context, dir string) (*redisServer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("redis-server is not installed\nhint: run make bench, it installs it")
	}
	l, err := listen(ctx) // a port that is free at this moment
	if err != nil {
		return nil, err
	}
	r := &redisServer{address: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(r.address)
	if err != nil {
		return nil, err
	}
	r.cmd = exec.CommandContext(ctx, path, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no")
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	if err := answers(ctx, r.address); err != nil {
		return nil, errors.Join(fmt.Errorf("redis-server does not answer: %w", err), r.stop())
	}
	return r, nil
}

// answers returns when a server takes connections.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var d net.Dialer
		if c, err := d.DialContext(ctx, "tcp", address); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// scriptCost is how long Redis itself was busy with a script, on average, by its
// own account.
func (r *redisServer) scriptCost(ctx context.Context) (time.Duration, error) {
	c := goredis.NewClient(&goredis.Options{Addr: r.address, Protocol: 2, DisableIdentity: true})
	stats, err := c.Info(ctx, "commandstats").Result()
	if err = errors.Join(err, c.Close()); err != nil {
		return 0, err
	}
	_, line, found := strings.Cut(stats, "cmdstat_evalsha:")
	_, rest, named := strings.Cut(line, "usec_per_call=")
	if !found || !named {
		return 0, nil // none ran
	}
	number, _, _ := strings.Cut(rest, ",")
	us, err := strconv.ParseFloat(number, 64)
	return time.Duration(us * float64(time.Microsecond)), err
}

// stop kills it: there is nothing to save.
func (r *redisServer) stop() error {
	err := r.cmd.Process.Kill()
	_ = r.cmd.Wait() // says that it was killed
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
