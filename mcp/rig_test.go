package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/mcp"
	"github.com/openclaw-verifier/verifier/mcp/mcptest"
)

func TestMain(m *testing.M) { os.Exit(mcptest.Run(m)) }

// desk is a gateway where each call waits until the test has answered it, whatever becomes of the call meanwhile.
type desk struct {
	mu     sync.Mutex
	open   []*question
	told   []string        // what came into the conversation, as "tool text"
	allows map[string]bool // the tools that pass
	down   error           // what becomes of everything that is asked
	over   chan struct{}
}

// question is a call that waits.
type question struct {
	hook.Call
	answer chan hook.Verdict
}

func (d *desk) Ask(_ context.Context, c hook.Call) (hook.Verdict, error) {
	d.mu.Lock()
	switch {
	case d.down != nil:
		defer d.mu.Unlock()
		return hook.Verdict{}, d.down
	case d.allows[c.Tool] || c.Again != nil:
		defer d.mu.Unlock()
		return hook.Verdict{Allowed: true, Asked: &hook.Asked{}}, nil
	}
	q := &question{c, make(chan hook.Verdict, 1)}
	d.open = append(d.open, q)
	d.mu.Unlock()
	select {
	case v := <-q.answer:
		return v, nil
	case <-d.over:
		return hook.Verdict{Reason: "The test is over."}, nil
	}
}

func (d *desk) Returned(_ context.Context, tool, _, text string, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, tool+" "+text)
	return nil
}

func (*desk) Offered(_ context.Context, names []string) (map[string]bool, error) {
	remain := map[string]bool{}
	for _, name := range names {
		remain[name] = true
	}
	return remain, nil
}

// asked are the calls that wait.
func (d *desk) asked() []*question {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*question(nil), d.open...)
}

// settle answers the call that has waited longest.
func (d *desk) settle(v hook.Verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[0].answer <- v
	d.open = d.open[1:]
}

// gate is a gate before a fake server, and its client.
type gate struct {
	*desk
	*mcptest.Client
	t    *testing.T
	in   *io.PipeWriter
	seen string // the file of what the server got
	code int
	done chan struct{}
	stop context.CancelFunc
}

// gated starts the gate before a program. These tools pass, and a person is asked about all others.
func gated(t *testing.T, allows ...string) *gate {
	t.Helper()
	seen := filepath.Join(t.TempDir(), "seen")
	g := gatedBy(t, &mcp.Server{Name: "fake", Command: mcptest.Command(t, seen)}, allows...)
	g.seen = seen
	return g
}

// reaching starts it before a server that has an address.
func reaching(t *testing.T, s *mcptest.Remote, allows ...string) *gate {
	t.Helper()
	u, err := url.Parse(s.URL + "/mcp?key=1")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer h271"}}
	return gatedBy(t, &mcp.Server{Name: "fake", URL: u, Header: header}, allows...)
}

func gatedBy(t *testing.T, s *mcp.Server, allows ...string) *gate {
	t.Helper()
	client, in := io.Pipe()
	out, server := io.Pipe()
	g := &gate{
		desk: &desk{allows: map[string]bool{}, over: make(chan struct{})}, Client: mcptest.NewClient(t, in, out),
		t: t, in: in, done: make(chan struct{}),
	}
	for _, tool := range allows {
		g.allows["mcp__fake__"+tool] = true
	}
	ctx, stop := context.WithCancel(t.Context())
	g.stop = stop
	o := mcp.Options{
		Server: s.Name, Definitions: mcp.Definitions{Dir: t.TempDir()}, Wait: time.Minute,
		Open: func() (mcp.Session, error) { return g.desk, nil },
	}
	go func() {
		defer close(g.done)
		var err error
		if g.code, err = mcp.Stdio(ctx, o, mcp.Streams{In: client, Out: server, Err: io.Discard}, s); err != nil {
			t.Error(err)
		}
		server.Close()
	}()
	t.Cleanup(func() { close(g.over); in.Close(); stop(); <-g.done })
	return g
}

// waits are the calls that wait, as soon as there are n.
func (g *gate) waits(n int) (all []*question) {
	g.t.Helper()
	redistest.Eventually(g.t, fmt.Sprintf("%d calls wait", n), func() bool {
		all = g.asked()
		return len(all) == n
	})
	return all
}

// yes lets the one call run that waits.
func (g *gate) yes() {
	g.t.Helper()
	g.waits(1)
	g.settle(hook.Verdict{Allowed: true, Asked: &hook.Asked{}})
}

// no refuses the one call that waits.
func (g *gate) no() {
	g.t.Helper()
	g.waits(1)
	g.settle(hook.Verdict{Reason: "Denied by the owner."})
}

// saw is all that the server got.
func (g *gate) saw() string { return mcptest.Seen(g.t, g.seen) }

// unseen fails if the server got a word.
func (g *gate) unseen(words ...string) {
	g.t.Helper()
	for _, word := range words {
		if saw := g.saw(); strings.Contains(saw, word) {
			g.t.Errorf("the server got %s", saw)
		}
	}
}

// offers says what the server says of its tools from now on, and returns what the client sees of it.
func (g *gate) offers(tools string) string {
	g.t.Helper()
	mcptest.Offer(g.t, g.seen, tools)
	return g.Answer(g.Requests("tools/list", "{}"))
}

// heard reports whether the gateway was told that this came into the conversation.
func (g *gate) heard(text string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.told {
		if strings.Contains(one, text) {
			return true
		}
	}
	return false
}
