// Package e2e has the flows that go through the public door: the real program with a config, over HTTP. The rules
// themselves are rows of data in the package beside, test/hostile.
package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// shown is all that the owner's terminal shows.
func shown(g *gateway.Gateway) string { return g.Screen.String() + g.Log.String() }

// unvouched is a run of which nothing is said: every acting call is asked about.
func unvouched(session string) gateway.Context {
	return gateway.Context{"sessionKey": "agent:main:" + session}
}

// fetched is a conversation of the owner that has read a page: a longer yes can be given there.
func fetched(g *gateway.Gateway, session string) gateway.Context {
	m := gateway.OwnerIn(session)
	g.Allow(gateway.Fetch(m))
	return m
}

// stranger is somebody else's message in a session of theirs.
func stranger(session string) gateway.Context {
	return gateway.Context{"sessionKey": "agent:main:" + session, "senderId": "9"}
}

// read is a call that passes in the owner's conversation.
func read(path string, ctx gateway.Context) gateway.Call {
	return gateway.Call{Tool: "read", Params: `{"path":"` + path + `"}`, Context: ctx}
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	redistest.Eventually(t, what, is)
}

// program runs the program with a config and a state directory of its own, and gives what it printed.
func program(t testing.TB, yaml string, args ...string) (printed string, code int) {
	t.Helper()
	dir := t.TempDir()
	file := written(t, dir, yaml)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out gateway.Output
	cmd := exec.CommandContext(ctx, gateway.Program(t), args...)
	cmd.Env = append(cmd.Environ(), "HOME="+dir, "VERIFIER_CONFIG="+file, "VERIFIER_STATE="+filepath.Join(dir, "state"),
		"EMPTY_SECRET=", "GUESSABLE_SECRET=change-me-please-1234")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ended := false
	eventually(t, "it ends, or serves", func() bool {
		select {
		case <-done:
			ended = true
		default:
		}
		return ended || strings.Contains(out.String(), "listens on")
	})
	if !ended {
		cancel()
		<-done
		return out.String(), -1
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// written is a config file that only we can read.
func written(t testing.TB, dir, yaml string) string {
	t.Helper()
	path := filepath.Join(dir, "verifier.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
