package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mostMore is how much longer a call may take with the gate before its server than without it.
const mostMore = 1500 * time.Microsecond

// echoRole is a server of tools that repeats its arguments.
const echoRole = "mcp-echo"

// line is a way to a server of tools.
type line struct {
	title string
	call  func(id int) error
	took  []time.Duration
}

func (l *line) median() time.Duration {
	slices.Sort(l.took)
	return l.took[len(l.took)/2]
}

// gated measures a call of an MCP tool by a plain pipe, through the gate, and through another program between them.
func gated(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "bench-mcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is a temporary one
	ctx, end := context.WithCancel(ctx)
	defer end()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	if err := serveGateway(ctx, o.verifier, dir, state); err != nil {
		return err
	}
	plain, err := pipeTo(ctx, "a plain pipe", self)
	if err != nil {
		return err
	}
	gate, err := pipeTo(ctx, "verifier mcp", o.verifier, "mcp", "--name", "echo", "--state", state, "--", self)
	if err != nil {
		return err
	}
	lines := []*line{plain, gate}
	if proxy := filepath.Join(o.others, "mcp-proxy", "node_modules", ".bin", "mcp-proxy"); o.others != "" && exists(proxy) {
		other, err := proxied(ctx, proxy, self)
		if err != nil {
			return err
		}
		lines = append(lines, other)
	}
	calls := max(o.calls/80, 20)
	id := 1
	for range o.rounds {
		for _, l := range lines {
			for range calls {
				id++
				began := time.Now()
				if err := l.call(id); err != nil {
					return fmt.Errorf("%s: %w", l.title, err)
				}
				l.took = append(l.took, time.Since(began))
			}
		}
	}
	more := gate.median() - plain.median()
	word := ""
	if more > mostMore {
		word = "  MISSED"
	}
	said := fmt.Sprintf("A call of an MCP tool, one after another; medians of %d calls.\n\n", o.rounds*calls)
	for _, l := range lines {
		said += fmt.Sprintf("%-44s %10.3f ms\n", l.title, float64(l.median().Microseconds())/1000)
	}
	said += fmt.Sprintf("%-44s %10.3f ms, at most %.1f%s\n", "the gate's part", float64(more.Microseconds())/1000, float64(mostMore.Microseconds())/1000, word)
	if len(lines) > 2 {
		said += fmt.Sprintf("%-44s %10.2f times\n", "the gate beside mcp-proxy", float64(gate.median())/float64(lines[2].median()))
	}
	fmt.Print(said)
	if err := o.publish("mcp", said); err != nil {
		return err
	}
	if word != "" && !o.short {
		return errMissed
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// serveGateway starts a gateway that lets the tool pass.
func serveGateway(ctx context.Context, verifier, dir, state string) error {
	config := filepath.Join(dir, "verifier.yaml")
	if err := os.WriteFile(config, []byte("toolOverrides:\n  mcp__echo__echo: {\"*\": allow, external: allow, untrusted: allow}\n"), 0o600); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, verifier, "serve", "--config", config, "--state", state, "--listen", "127.0.0.1:0")
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() //nolint:errcheck // it ends with the measurement
	for range 100 {
		if exists(filepath.Join(state, "address")) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the gateway did not start")
}

const toolFormat = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`

// pipeTo starts a program that speaks lines.
func pipeTo(ctx context.Context, title, program string, args ...string) (*line, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Stderr = append(os.Environ(), roleVariable+"="+echoRole), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	return &line{title: title, call: func(id int) error {
		if _, err := fmt.Fprintf(in, toolFormat+"\n", id); err != nil {
			return err
		}
		text, err := lines.ReadBytes('\n')
		return errors.Join(err, isResult(text, id))
	}}, nil
}

// isResult reports whether a message is the result of a call.
func isResult(text []byte, id int) error {
	if !bytes.Contains(text, []byte(`"id":`+strconv.Itoa(id)+`,`)) || !bytes.Contains(text, []byte("you said hello")) {
		return fmt.Errorf("the answer is %.300s", text)
	}
	return nil
}

// proxied starts mcp-proxy, which clients reach by an address.
func proxied(ctx context.Context, proxy, self string) (*line, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, proxy, "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", self)
	c.Env = append(os.Environ(), roleVariable+"="+echoRole)
	if err := c.Start(); err != nil {
		return nil, err
	}
	go c.Wait() //nolint:errcheck // it ends with the measurement
	session := ""
	post := func(body string) ([]byte, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:"+port+"/mcp", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		q.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			q.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if s := res.Header.Get("Mcp-Session-Id"); s != "" {
			session = s
		}
		return io.ReadAll(res.Body)
	}
	for try := range 100 {
		_, err = post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
		if err == nil {
			break
		}
		if try == 99 {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, err := post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return nil, err
	}
	return &line{title: "mcp-proxy, over HTTP, which decides nothing", call: func(id int) error {
		text, err := post(fmt.Sprintf(toolFormat, id))
		return errors.Join(err, isResult(bytes.ReplaceAll(text, []byte(`"id":`+strconv.Itoa(id)+`}`), []byte(`"id":`+strconv.Itoa(id)+`,`)), id))
	}}, nil
}

// echoServer is a server of tools that repeats its arguments.
func echoServer() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // its client has gone
		}
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		if err := json.Unmarshal(text, &m); err != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"you said hello"}]}`
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
			return err
		}
	}
}
