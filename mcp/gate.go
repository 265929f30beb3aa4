// Package mcp is the gate between a client of the Model Context Protocol and a server of tools. It asks the gateway, by the
// signed protocol, before each call of a tool and before each other request that can carry text of the model's out, and
// passes on everything else as it came, byte by byte.
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

// gate judges what passes between clients and one server. It knows no transport: a message is a text in one line.
type gate struct {
	Options
	client  outlet
	retries retries

	mu   sync.Mutex
	open Session // nil: not yet, or no more
}

func (g *gate) toolName(tool string) string { return "mcp__" + g.Server + "__" + tool }

// read reads a message of the client's. A call of a tool, or another request that is judged as one, is in c.
func (g *gate) read(text []byte) (m message, c *call, no *refusal) {
	m, err := decode(text, false)
	switch {
	case err != nil:
		g.logf("What the client sent was refused: %v.", err)
		return m, nil, &refusal{idOf(text), codeInvalid, err}
	case m.isAnswer() || isUnjudged(&m) || m.id == nil && strings.HasPrefix(m.method, "notifications/"):
		return m, nil, nil
	case m.id == nil: // some servers would run it all the same
		g.logf("A request without an id was refused.")
		return m, nil, &refusal{nil, codeInvalid, errors.New("a request without an id is refused")}
	case m.method == "tools/call":
		c, err = readCall(m.params)
	default:
		c, err = readRequest(&m)
	}
	if err != nil {
		return m, nil, &refusal{m.id, codeParams, err}
	}
	return m, c, nil
}

// refusal is why a message is not passed on.
type refusal struct {
	id   jsontext.Value // of the message; nil: it has none that can be read
	code int
	why  error
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

// text is an answer that is an error. A message without an id gets null for it.
func (r *refusal) text() []byte {
	id := r.id
	if _, ok := keyOf(id); !ok {
		id = jsontext.Value("null")
	}
	text, err := json.Marshal(rpcError{r.code, r.why.Error()}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // texts can be written
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, text)
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

// denied is the answer to a call that is not run: a result that is an error. Where the client waits for a task, a resource
// or a prompt, only an error fits; where the call itself is wrong, the protocol wants one.
func denied(r *request, words string) []byte {
	switch {
	case r.astray:
		return (&refusal{r.id, codeParams, errors.New(words)}).text()
	case r.task || r.method != "tools/call":
		return (&refusal{r.id, codeDenied, errors.New(words)}).text()
	}
	text, err := json.Marshal(deniedResult{[]textContent{{"text", words}}, true, "complete"}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // texts can be written
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.id, text)
}

func (g *gate) reply(text []byte) {
	if g.client.send(text) != nil {
		g.logf("An answer could not be given to the client.")
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
