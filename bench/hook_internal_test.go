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

// hookFloor is how long the hook may take from its start to the first byte on the wire: it runs twice for each call.
const hookFloor = 12 * time.Millisecond

// minimalClient is the least that a Go program can do to send a request.
const minimalClient = `package main

import ("net/http"; "os"; "strings")

func main() { http.Post(os.Args[1], "application/json", strings.NewReader("{}")) }
`

// BenchmarkHookFirstByte starts the hook again and again, beside a minimal client, and prints the medians. A number that is
// missed prints MISSED.
func BenchmarkHookFirstByte(b *testing.B) {
	dir := b.TempDir()
	source, secret := filepath.Join(dir, "least.go"), filepath.Join(dir, "secret")
	for path, text := range map[string]string{source: minimalClient, secret: "0123456789abcdef-the-secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	hook, least := filepath.Join(dir, "verifier-hook"), filepath.Join(dir, "least")
	for to, what := range map[string]string{hook: "../cmd/verifier-hook", least: source} {
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", to, what).CombinedOutput(); err != nil {
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
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, firstByte(b, listener, exec.CommandContext(b.Context(), hook, "claude-code", "--url", url, "--secret-file", secret, "--notes", filepath.Join(dir, "notes")), event))
		theirs = append(theirs, firstByte(b, listener, exec.CommandContext(b.Context(), least, url), ""))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	median, beside := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(median.Microseconds())/1000, "ms/first-byte")
	b.ReportMetric(float64(beside.Microseconds())/1000, "ms/minimal-client")
	if median > hookFloor {
		fmt.Printf("hook: MISSED: %v to the first byte, %v allowed, a minimal client takes %v\n", median, hookFloor, beside)
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
