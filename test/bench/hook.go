package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hookEvent is what Claude Code writes to its hook before a call.
const hookEvent = `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"date"},"tool_use_id":"c1"}`

// firstByte is how long a coding agent's hook takes from its start to the first byte on the wire: the median of some.
func firstByte(ctx context.Context, dir string) (time.Duration, error) {
	file := filepath.Join(dir, "secret")
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err = errors.Join(err, os.WriteFile(file, []byte(secret), 0o600)); err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // nothing was written
	var took []time.Duration
	for range 41 {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "verifier-hook"), "claude-code",
			"--url", "http://"+l.Addr().String(), "--secret-file", file, "--notes", filepath.Join(dir, "notes"))
		cmd.Stdin = strings.NewReader(hookEvent)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		c, err := l.Accept()
		if err != nil {
			return 0, err
		}
		_, err = c.Read(make([]byte, 1))
		took = append(took, time.Since(began))
		if err = errors.Join(err, c.Close()); err != nil {
			return 0, err
		}
		_ = cmd.Wait() // it got no answer
	}
	return quartiles(took)[1], nil
}
