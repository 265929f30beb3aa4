package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// startFloor is how long the hook, which runs twice for each call, and `verifier-hook send` may take from their start to the first byte on the wire.
const startFloor = 12 * time.Millisecond

// minimalClient is the least that a Go program can do to send a request.
const minimalClient = `package main

import ("net/http"; "os"; "strings")

func main() { http.Post(os.Args[1], "application/json", strings.NewReader("{}")) }
`

// BenchmarkFirstByte starts the hook, `verifier-hook send` and, to compare, `verifier send` again and again, beside a minimal client, and prints the medians and how they compare with it.
// A number that is missed prints MISSED.
func BenchmarkFirstByte(b *testing.B) {
	dir := b.TempDir()
	source, secret := filepath.Join(dir, "least.go"), filepath.Join(dir, "secret")
	for path, text := range map[string]string{source: minimalClient, secret: "0123456789abcdef-the-secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	hook, send, least := filepath.Join(dir, "verifier-hook"), filepath.Join(dir, "whole", "verifier"), filepath.Join(dir, "least")
	for to, what := range map[string]string{hook: "../cmd/verifier-hook", send: "../cmd/verifier", least: source} {
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-ldflags", "-s -w", "-o", to, what).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	url := "http://" + listener.Addr().String()
	event := `{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"date"},"tool_use_id":"c1"}`
	programs := []struct {
		name, stdin string
		args        []string
		took        []time.Duration
	}{
		{name: "minimal-client", args: []string{least, url}},
		{name: "hook", stdin: event, args: []string{hook, "claude-code", "--url", url, "--secret-file", secret, "--notes", filepath.Join(dir, "notes")}},
		{name: "whole-send", args: []string{send, "send", "--tool", "exec", "--params", `{"command":"date"}`, "--url", url, "--secret", "0123456789abcdef-the-secret"}},
		{name: "send", args: []string{hook, "send", "--tool", "exec", "--params", `{"command":"date"}`, "--url", url, "--secret", "0123456789abcdef-the-secret"}},
	}
	for b.Loop() {
		for i := range programs {
			p := &programs[i]
			p.took = append(p.took, firstByte(b, listener, exec.CommandContext(b.Context(), p.args[0], p.args[1:]...), p.stdin))
		}
	}
	var minimal time.Duration
	for i := range programs {
		p := &programs[i]
		slices.Sort(p.took)
		median := p.took[len(p.took)/2]
		b.ReportMetric(float64(median.Microseconds())/1000, "ms/"+p.name)
		if i == 0 {
			minimal = median
			continue
		}
		b.ReportMetric(float64(median)/float64(minimal), "×/"+p.name)
		if median > startFloor {
			fmt.Printf("%s: MISSED: %v to the first byte, %v allowed; a minimal client takes %v\n", p.name, median, startFloor, minimal)
		}
	}
}

func firstByte(b *testing.B, l net.Listener, c *exec.Cmd, event string) time.Duration {
	c.Stdin = strings.NewReader(event)
	began := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	conn, err := l.Accept()
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	took := time.Since(began)
	if err != nil {
		b.Fatal(err)
	}
	conn.Close() // it has sent what we wait for
	c.Wait()     //nolint:errcheck // it has no answer
	return took
}
