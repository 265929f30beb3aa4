// Package mcp is the gate between a client of the Model Context Protocol and a server of tools. It asks the gateway before
// each call of a tool, by the signed protocol, and passes on everything else as it came, byte by byte.
//
// It fails closed. A call reaches the server only on an answer that the gateway has signed for it, and the bytes that were
// judged are those that are passed on. What can't be read in one way only is refused: batches, names that are there twice
// or in another spelling, lines within lines. A call that is refused ends in a result that says so in words.
//
// It decides nothing itself, and it sends no text that a tool returned to the gateway: only fingerprints of it.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// Session is the conversation in which calls are made; see [hook.Session].
type Session interface {
	Ask(ctx context.Context, c hook.Call) (hook.Verdict, error)
	Returned(ctx context.Context, tool, id, text string, failed bool) error
	Offered(ctx context.Context, names []string) (remain map[string]bool, err error)
}

// Options are what a gate is made with.
type Options struct {
	// Server is the name of the server, as its owner calls it. Its tools are judged as mcp__<server>__<tool>.
	Server string
	// Definitions keep what the server says of its tools.
	Definitions Definitions
	// Open opens the session. It is called again after it has failed, or the gateway has.
	Open func() (Session, error)
	// Wait is how long the client waits for the answer to a call. 0: as long as clients of its name do.
	Wait time.Duration
	// Log is for people: it says what was refused and why.
	Log io.Writer
}

// CheckName reports whether a server may have this name. Two underscores would make its tools look like another server's.
func CheckName(name string) error {
	odd := strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
	if name == "" || len(name) > 64 || odd || strings.Contains(name, "__") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_") {
		return errors.New("the name of a server is 1 to 64 letters, digits, - and _, with no _ at its ends and no two in a row")
	}
	return nil
}

// gate stands between one client and one server.
type gate struct {
	Options
	client, server *sender

	mu      sync.Mutex
	open    Session // nil: not yet, or no more
	pending map[string]*request
	retries retries
	wait    time.Duration             // how long this client waits
	over    bool                      // the server has gone
	hints   map[string]jsontext.Value // the tools' own annotations
}

// request is one of the client's that has no answer yet.
type request struct {
	id     jsontext.Value
	method string
	tool   string // the name under which it is judged
	callID string // the client's own name of the call
	same   string // the tool and its arguments, by which a retry is known
	spent  bool   // the hook tells what it returned
	task   bool   // it is answered with a task, and not with a result

	drop context.CancelFunc // while it is held: drops it. nil: the server has it
}

// mostPending is how many requests a client may have open.
const mostPending = 1024

func newGate(o Options, client, server io.Writer) *gate {
	return &gate{Options: o, client: &sender{w: client}, server: &sender{w: server}, pending: map[string]*request{}, wait: o.Wait}
}

// fromClient takes one line of the client's. It returns an error where the server can't be written to.
func (g *gate) fromClient(ctx context.Context, line []byte) error {
	m, err := decode(line, false)
	if err != nil {
		g.logf("What the client sent was refused: %v.", err)
		return g.refuse(m.id, codeInvalid, err)
	}
	switch {
	case m.method == "notifications/cancelled" && g.cancel(m.params):
		return nil
	case m.method == "tools/call" && m.id == nil: // some servers would run it all the same
		g.logf("A call without an id was refused.")
		return nil
	case !m.isRequest():
		return g.server.send(m.line)
	}
	r := &request{id: m.id, method: m.method}
	var c call
	if m.method == "tools/call" {
		ctx, r.drop = context.WithCancel(ctx)
		if c, err = readCall(m.params); err != nil {
			r.drop()
			return g.refuse(m.id, codeParams, err)
		}
		r.tool, r.callID, r.task = g.toolName(c.name), c.id, c.task != nil
	}
	if err := g.admit(m.key, r); err != nil {
		if r.drop != nil {
			r.drop()
		}
		return g.refuse(m.id, codeInvalid, err)
	}
	switch m.method {
	case "tools/call":
		go g.judge(ctx, m, r, c)
		return nil
	case "initialize":
		g.meet(m.params)
	}
	return g.server.send(m.line)
}

func (g *gate) toolName(tool string) string { return "mcp__" + g.Server + "__" + tool }

// admit notes a request, so that its answer is known as such.
func (g *gate) admit(key string, r *request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.over:
		return errOver
	case g.pending[key] != nil:
		return errors.New("another request with this id is still open")
	case len(g.pending) >= mostPending:
		return errors.New("too many requests are open")
	}
	g.pending[key] = r
	return nil
}

// cancel drops a call that is held. Where the server has it already, the server is told.
func (g *gate) cancel(params jsontext.Value) bool {
	all, err := members(params, []string{"requestId", "reason", "_meta"})
	if err != nil {
		return false
	}
	key, ok := keyOf(all["requestId"])
	if !ok {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.pending[key]
	if r == nil {
		return false
	}
	delete(g.pending, key) // a late answer is passed on to nobody
	if r.drop == nil {
		return false
	}
	r.drop()
	return true
}

// pass hands a call that was held to the server, unless it was dropped meanwhile.
func (g *gate) pass(m message, r *request) error {
	g.mu.Lock()
	if g.pending[m.key] != r {
		g.mu.Unlock()
		return nil
	}
	r.drop()
	r.drop = nil
	g.mu.Unlock()
	return g.server.send(m.line)
}

// deny ends a call that was held with words, unless it was dropped meanwhile.
func (g *gate) deny(key string, r *request, words string) {
	g.mu.Lock()
	here := g.pending[key] == r
	if here {
		r.drop()
		delete(g.pending, key)
	}
	g.mu.Unlock()
	if here {
		g.answerDenied(r, words)
	}
}

// answerDenied answers a call with a result that is an error. Where the client waits for a task, only an error fits.
func (g *gate) answerDenied(r *request, words string) {
	if r.task {
		g.refuse(r.id, codeDenied, errors.New(words)) //nolint:errcheck // a client that has gone needs no answer
		return
	}
	text, err := json.Marshal(deniedResult{[]textContent{{"text", words}}, true, "complete"}, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = g.client.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.id, text))
	}
	if err != nil {
		g.logf("An answer could not be given to the client.")
	}
}

type deniedResult struct {
	Content []textContent `json:"content"`
	IsError bool          `json:"isError"`
	Type    string        `json:"resultType"` // since 2026-07-28
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Codes of JSON-RPC.
const (
	codeInvalid = -32600
	codeParams  = -32602
	codeDenied  = -32001
	codeGone    = -32000
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// refuse answers a message with an error. One without an id gets null for it.
func (g *gate) refuse(id jsontext.Value, code int, why error) error {
	if _, ok := keyOf(id); !ok {
		id = jsontext.Value("null")
	}
	text, err := json.Marshal(rpcError{code, why.Error()}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	if g.client.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, text)) != nil {
		g.logf("An answer could not be given to the client.")
	}
	return nil
}

var errOver = errors.New("the server of tools has ended")

// end answers everything that is still open: the server has gone.
func (g *gate) end() {
	g.mu.Lock()
	g.over = true
	open := g.pending
	g.pending = map[string]*request{}
	g.mu.Unlock()
	for _, r := range open {
		if r.method != "tools/call" {
			g.refuse(r.id, codeGone, errOver) //nolint:errcheck // a client that has gone needs no answer
			continue
		}
		words := "The server of tools ended before it had answered. The call may have run."
		if r.drop != nil {
			r.drop()
			words = "The server of tools has ended. Nothing was run."
		}
		g.answerDenied(r, words)
	}
}

func (g *gate) logf(format string, args ...any) {
	fmt.Fprintf(g.Log, "verifier mcp: "+format+"\n", args...) //nolint:errcheck // nowhere left to say it
}

// session is the conversation. It is opened anew after the gateway has failed: it may be elsewhere now.
func (g *gate) session() (Session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		s, err := g.Open()
		if err != nil {
			return nil, err
		}
		g.open = s
	}
	return g.open, nil
}

func (g *gate) forget(s Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == s {
		g.open = nil
	}
}

// patience is how long clients wait for a call, by the names that they give themselves. Others wait for a minute.
var patience = map[string]time.Duration{"claude-code": 600 * time.Second, "codex-mcp-client": 300 * time.Second, "gemini-cli-mcp-client": 600 * time.Second}

// meet notes how long the client waits.
func (g *gate) meet(params jsontext.Value) {
	var p struct {
		Client struct {
			Name string `json:"name"`
		} `json:"clientInfo"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wait == 0 {
		g.wait = patience[p.Client.Name]
	}
}
