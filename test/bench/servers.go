package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// kind is one of the servers that are compared.
type kind struct {
	name, title string
	command     starter
	request     func(call []byte) []byte
	yes         string // what its allow holds
	env         []string
}

type starter func(ctx context.Context, b *bench, dir, address string) (*exec.Cmd, error)

// kinds are measured and shown in this order; the first is the unit.
var kinds = []kind{
	{name: "constant", title: "constant net/http handler", command: floor, request: signed, yes: isAllow},
	{name: "redis", title: "ours with Redis", command: ours("redis"), request: signed, yes: isAllow},
	{name: "embedded", title: "ours embedded (SQLite)", command: ours(""), request: signed, yes: isAllow},
	{name: "opa", title: "OPA's server, the policy alone", command: opa, request: toOPA, yes: `"result":"allow"`},
}

// floor is this program again.
func floor(ctx context.Context, _ *bench, _, address string) (*exec.Cmd, error) {
	self, err := os.Executable()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), listenVariable+"="+address)
	return cmd, err
}

// ours is the real program with its defaults; database is a fresh one of Redis, or empty.
func ours(database string) starter {
	return func(ctx context.Context, b *bench, dir, address string) (*exec.Cmd, error) {
		config := fmt.Sprintf("listen: %s\nownerToken: %s\nwebhook: {secret: %s}\n", address, ownerToken, secret)
		if database != "" {
			b.databases++
			config += fmt.Sprintf("store: {url: \"redis://%s/%d\"}\n", b.redis.address, b.databases)
		}
		file := filepath.Join(dir, "verifier.yaml")
		state := filepath.Join(dir, "state")
		cmd := exec.CommandContext(ctx, filepath.Join(b.dir, "verifier"), "serve", "--config", file, "--state", state)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		return cmd, os.WriteFile(file, []byte(config), 0o600)
	}
}

// regoPolicy asks the same question of OPA: may this tool be called at this level. OPA keeps no state, hides nothing,
// records nothing and checks no signature.
const regoPolicy = `package verifier
default decision := "deny"
tainted := {"shared", "external", "untrusted"}
sinks := {"message", "gateway", "cron", "nodes", "write", "edit", "apply_patch", "exec", "process"}
safe := {"read", "session_status", "memory_get", "memory_search"}
decision := "allow" if input.call.tool.name in safe
decision := "allow" if {
	not input.level in tainted
	input.call.tool.name in sinks
}
decision := "confirm" if {
	input.level in tainted
	input.call.tool.name in sinks
}
`

func opa(ctx context.Context, b *bench, dir, address string) (*exec.Cmd, error) {
	file := filepath.Join(dir, "policy.rego")
	return exec.CommandContext(ctx, filepath.Join(b.o.others, "opa"), "run", "--server", "--addr", address,
		"--log-level", "error", "--skip-version-check", file), os.WriteFile(file, []byte(regoPolicy), 0o600)
}

// server is a process that serves.
type server struct {
	kind
	address string
	cmd     *exec.Cmd
	said    bytes.Buffer
	load    *load
	slices  []slice
}

// start starts a server and waits until it is ready.
func (b *bench) start(ctx context.Context, k kind) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, k.name)
	if err != nil {
		return nil, err
	}
	s := &server{kind: k, load: &load{yes: k.yes}}
	if s.address, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	s.load.address = s.address
	if s.cmd, err = k.command(ctx, b, dir, s.address); err != nil {
		return nil, err
	}
	if b.pinned && k.yes != "" { // taskset becomes the server
		s.cmd.Args = append([]string{"taskset", "-c", "0"}, s.cmd.Args...)
		if s.cmd.Path, err = exec.LookPath("taskset"); err != nil {
			return nil, err
		}
	}
	s.cmd.Env = append(s.cmd.Env, k.env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	b.all = append(b.all, s)
	return s, s.ready(ctx)
}

// ready waits for an answer: from ours, that calls can be decided.
func (s *server) ready(ctx context.Context) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err == nil {
			_ = c.Close()
			if !strings.HasPrefix(s.title, "ours") {
				return nil
			}
			if _, err = s.owner(ctx, http.MethodGet, "/readyz", ""); err == nil {
				return nil
			}
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("%s is not ready: %w\n%s", s.title, err, s.stop())
		}
	}
}

// stop ends a server and gives what it said.
func (s *server) stop() string {
	s.load.close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // says that it was killed, or that it was before
	return s.said.String()
}

// cpu is what the server has used, user and system. clockTick is the kernel's unit on every Linux that Go runs on.
func (s *server) cpu() time.Duration {
	const clockTick = 10 * time.Millisecond
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything; after it all is numbers.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick
}

// resident is how many bytes of the server are in memory.
func (s *server) resident() (n int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(rest, &n)
	return n << 10, err
}

// owner speaks to ours as the owner does.
func (s *server) owner(ctx context.Context, method, path, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+ownerToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return string(text), err
}

// freeAddress is a loopback address on which nothing listens at this moment.
func freeAddress(ctx context.Context) (string, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pin keeps this process, and what it starts from now on, off the first core, which is the servers'.
func pin(ctx context.Context) bool {
	rest := fmt.Sprintf("1-%d", runtime.NumCPU()-1)
	return exec.CommandContext(ctx, "taskset", "-a", "-c", "-p", rest, strconv.Itoa(os.Getpid())).Run() == nil
}

// build builds what is measured.
func build(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+"/", "./cmd/verifier", "./cmd/verifier-hook")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
