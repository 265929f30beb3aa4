package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// peer is a client: what it has asked for, and how long it waits.
type peer struct {
	*gate

	mu      sync.Mutex
	pending map[*request]bool
	wait    time.Duration
	over    bool // the server has gone
}

// request is one of the client's that has no answer yet.
type request struct {
	id     jsontext.Value
	key    string // the id in the one form by which ids are compared
	method string
	tool   string         // the name under which it is judged; "": it is not
	callID string         // the client's own name of the call
	same   string         // the tool and its arguments, by which a retry is known
	asked  *hook.Asked    // how the gateway was asked; nil: it was not
	at     time.Time      // when
	byHook bool           // the hook tells what it returned
	task   bool           // it is answered with a task, and not with a result
	edits  bool           // it can be passed on with other arguments
	edited jsontext.Value // those that the owner lets run instead; nil: its own
	astray bool           // it answers a question that the server has not asked

	drop context.CancelFunc // while it is held: drops it. nil: the server has it
}

// outlet takes messages, each whole.
type outlet interface {
	send(text []byte) error
}

// mostPending is how many requests a client may have open.
const mostPending = 1024

func (g *gate) newPeer() *peer {
	return &peer{gate: g, pending: map[*request]bool{}, wait: g.Wait}
}

// admit notes a request, so that its answer is known as such.
func (p *peer) admit(r *request) *refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	no := &refusal{id: r.id, code: codeInvalid}
	switch {
	case p.over:
		no.why = errOver
	case p.find(r.key) != nil:
		no.why = errors.New("another request with this id is still open")
	case len(p.pending) >= mostPending:
		no.why = errors.New("too many requests are open")
	default:
		p.pending[r] = true
		return nil
	}
	return no
}

// asked is a request as it is noted. A call is held until it is released.
func (p *peer) asked(m *message, c *call) *request {
	r := &request{id: m.id, key: m.key, method: m.method}
	if c != nil {
		r.tool, r.callID, r.task, r.same = p.toolName(c.name), c.id, c.task != nil, digest([]byte(c.name), canonical(c.arguments))
	}
	if m.method == "initialize" {
		p.meet(m.params)
	}
	return r
}

func (p *peer) find(key string) *request {
	for r := range p.pending {
		if r.key == key {
			return r
		}
	}
	return nil
}

// cancel forgets what the client no longer waits for: a late answer is not passed on. It reports whether that was held, and
// so dropped: the server knows nothing of it.
func (p *peer) cancel(params jsontext.Value) (dropped bool) {
	all, err := members(params, []string{"requestId", "reason", "_meta"})
	if err != nil {
		return false
	}
	key, ok := keyOf(all["requestId"])
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(key)
	if r == nil {
		return false
	}
	delete(p.pending, r)
	if r.drop == nil {
		return false
	}
	r.drop()
	return true
}

// release lets a call go that was held. It reports whether it was still there: else it was dropped meanwhile.
func (p *peer) release(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.pending[r] {
		return false
	}
	if r.drop != nil {
		r.drop()
		r.drop = nil
	}
	return true
}

// take is the request that an answer is for, if the server has it. It has no other answer then.
func (p *peer) take(key string) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(key)
	if r == nil || r.drop != nil {
		return nil
	}
	delete(p.pending, r)
	return r
}

// done forgets a request, and reports whether it was still open.
func (p *peer) done(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := p.pending[r]
	delete(p.pending, r)
	return open
}

var errOver = errors.New("the server of tools has ended")

// end answers everything that is still open: the server has gone.
func (p *peer) end() {
	p.mu.Lock()
	p.over = true
	open := p.pending
	p.pending = map[*request]bool{}
	p.mu.Unlock()
	for r := range open {
		words := "The server of tools ended before it had answered. The call may have run."
		if r.drop != nil {
			r.drop()
			words = "The server of tools has ended. Nothing was run."
		}
		text := denied(r, words)
		if r.method != "tools/call" {
			text = (&refusal{r.id, codeGone, errOver}).text()
		}
		p.client.send(text) //nolint:errcheck // a client that has gone needs no answer
	}
}

// patience is how long clients wait for a call, by the names that they give themselves. Others wait for a minute.
var patience = map[string]time.Duration{"claude-code": 600 * time.Second, "codex-mcp-client": 300 * time.Second, "gemini-cli-mcp-client": 600 * time.Second}

// meet notes how long the client waits.
func (p *peer) meet(params jsontext.Value) {
	var who struct {
		Client struct {
			Name string `json:"name"`
		} `json:"clientInfo"`
	}
	if json.Unmarshal(params, &who) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait == 0 {
		p.wait = patience[who.Client.Name]
	}
}
