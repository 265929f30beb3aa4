package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// tools are the programs that a run starts.
type tools struct {
	verifier, toxiproxy, redis string
	shim                       string // preloaded into Redis; "" where there is no compiler
	strace                     string // "" where it is missing or not allowed
}

// prepare builds and finds them. What a run can do without is left out, and the
// report says so.
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
	if runtime.GOOS == "linux" && command(ctx, "cc", "-O1", "-shared", "-fPIC", "-o", shim, "test/chaos/shim/redis.c") == nil {
		t.shim = shim
	}
	if path, err := exec.LookPath("strace"); err == nil && command(ctx, path, "-o", os.DevNull, "true") == nil {
		t.strace = path
	}
	return t, nil
}

func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput() //nolint:gosec // the programs of a run
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
