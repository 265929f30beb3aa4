package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long a server has to end once its client has gone, and once it got a signal. Clients wait 2 s for each.
const (
	endWithin  = 1500 * time.Millisecond
	killWithin = time.Second
)

// Streams are those of the gate's own process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// backend is a server, as the gate reaches it.
type backend interface {
	outlet
	// receive hands over each message of the server's, until there are no more.
	receive(to func(text []byte) error) error
	// close says that nothing more comes from the client.
	close()
	// end ends it. It returns its exit code, where it has ended by itself.
	end(byItself bool) (code int)
}

// Server is a server of tools: a command, or an address.
type Server struct {
	Name    string
	Command []string
	URL     *url.URL
	Header  http.Header // of each request
}

func (s *Server) start(log io.Writer) (backend, error) {
	if s.URL != nil {
		return newRemote(s.URL, s.Header), nil
	}
	return startProcess(s.Command, log)
}

// Stdio starts a server and passes messages between it and the client on the streams, until one of them ends. It returns the
// server's exit code where the server has ended first.
func Stdio(ctx context.Context, o Options, s Streams, server *Server) (code int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Log = s.Err
	b, err := server.start(s.Err)
	if err != nil {
		return 0, err
	}
	g := newPipe(o, &sender{w: s.Out}, b)

	asking, drop := context.WithCancel(ctx)
	defer drop()
	served, asked := make(chan error, 1), make(chan error, 1)
	go func() { served <- g.serve(ctx, b) }()
	go func() {
		asked <- g.pump(newLines(s.In), func(line []byte) error { return g.fromClient(asking, line) })
	}()

	byItself := false
	select {
	case err := <-served:
		byItself = errors.Is(err, io.EOF)
	case <-asked: // the client has gone: what is held is dropped. The server may still have something to say
	case <-ctx.Done():
	}
	drop()
	b.close()
	if !byItself && ctx.Err() == nil {
		select {
		case <-served:
		case <-time.After(endWithin):
		}
	}
	g.end()
	return b.end(byItself), nil
}

// serve takes what the server sends, until it ends.
func (p *pipe) serve(ctx context.Context, b backend) error {
	return p.guarded(func() error {
		return b.receive(func(text []byte) error { return p.fromServer(ctx, text) })
	})
}

// guarded takes messages until there are no more. A panic ends it: what that says may hold a part of a message.
func (g *gate) guarded(take func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errGate
		}
	}()
	if err = take(); errors.Is(err, errTooLong) {
		g.logf("%v. It was not passed on.", err)
	}
	return err
}

var errGate = errors.New("the gate failed")

// process is a server that the gate has started.
type process struct {
	sender

	cmd *exec.Cmd
	in  io.Closer
	out *lines
}

func startProcess(command []string, log io.Writer) (*process, error) {
	c := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the owner says which; it is ended in steps, see below
	// Nothing about the gateway.
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "VERIFIER_") })
	c.Stderr = log
	in, err := c.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("the server's input: %w", err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("the server's output: %w", err)
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("the server of tools can't be started: %w", err)
	}
	return &process{sender: sender{w: in}, cmd: c, in: in, out: newLines(out)}, nil
}

func (s *process) receive(to func([]byte) error) error { return each(s.out, to) }

func (s *process) close() { s.in.Close() } //nolint:errcheck // a signal follows

func (s *process) end(byItself bool) int {
	err := stop(s.cmd, byItself)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && byItself {
		return max(exit.ExitCode(), 1)
	}
	return 0
}

// stop ends a server in steps: it may end by itself where it has begun to, then it gets a signal, then it is killed.
func stop(c *exec.Cmd, begun bool) error {
	first := time.Duration(0)
	if begun {
		first = endWithin
	}
	tell := time.AfterFunc(first, func() { c.Process.Signal(syscall.SIGTERM) }) //nolint:errcheck // it may have ended
	kill := time.AfterFunc(first+killWithin, func() { c.Process.Kill() })       //nolint:errcheck // see above
	defer tell.Stop()
	defer kill.Stop()
	return c.Wait()
}

// pipe is a client and a server that each have one stream of messages.
type pipe struct {
	*peer
	server outlet

	// order keeps a cancellation behind the call that it cancels.
	order sync.Mutex
}

func newPipe(o Options, client, server outlet) *pipe {
	return &pipe{peer: (&gate{Options: o, client: client}).newPeer(), server: server}
}

// fromClient takes one line of the client's. It returns an error where the server can't be written to.
func (p *pipe) fromClient(ctx context.Context, text []byte) error {
	m, c, no := p.read(text)
	switch {
	case no != nil:
		p.reply(no.text())
		return nil
	case m.method == "notifications/cancelled":
		p.order.Lock()
		defer p.order.Unlock()
		if p.cancel(m.params) {
			return nil
		}
		return p.server.send(m.text)
	case !m.isRequest():
		return p.server.send(m.text)
	}
	r := p.asked(&m, c)
	if c != nil {
		ctx, r.drop = context.WithCancel(ctx)
		r.edits = !c.request
	}
	if no := p.admit(r); no != nil {
		if c != nil {
			r.drop()
		}
		p.reply(no.text())
		return nil
	}
	if c == nil {
		return p.server.send(m.text)
	}
	go p.decide(ctx, m, r, c)
	return nil
}

// decide hands a call to the server, or answers it, unless it was dropped meanwhile.
func (p *pipe) decide(ctx context.Context, m message, r *request, c *call) {
	words, text := p.judge(ctx, r, c), m.text
	if words == "" && r.edited != nil {
		var err error
		if text, err = m.withArguments(r.edited); err != nil {
			words = "The verifier failed. Nothing was run."
		}
	}
	if words != "" {
		if p.done(r) {
			r.drop()
			p.reply(denied(r, words))
		}
		return
	}
	p.order.Lock()
	defer p.order.Unlock()
	if p.release(r) && p.server.send(text) != nil {
		p.logf("The server of tools could not be reached.")
	}
}

// fromServer takes one line of the server's. It returns an error where the client can't be written to.
func (p *pipe) fromServer(ctx context.Context, text []byte) error {
	toClient, toServer := p.peer.fromServer(ctx, text)
	if toServer != nil {
		if err := p.server.send(toServer); err != nil {
			return err
		}
	}
	if toClient == nil {
		return nil
	}
	return p.client.send(toClient)
}

// pump hands each line over, until there are no more, or they can't be handed over.
func (g *gate) pump(from *lines, to func([]byte) error) error {
	return g.guarded(func() error { return each(from, to) })
}

// each hands over each line that is not empty.
func each(from *lines, to func([]byte) error) error {
	for {
		line, err := from.next()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := to(line); err != nil {
			return err
		}
	}
}
