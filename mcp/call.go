package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// call is what a client says of a call, or of another request that is judged as one.
type call struct {
	name      string // the tool's, or the one under which the request is judged
	arguments jsontext.Value
	id        string         // the client's own name of it, where it says one
	client    string         // the client's name, where the call says it
	request   bool           // it is no call of a tool
	token     jsontext.Value // of the messages about progress that the client wants; nil: none
	task      jsontext.Value
	responses jsontext.Value // a retry: what the server has asked for
	state     jsontext.Value // a retry: what the server wants to see again
}

// callParams are the members that a call may have. What we don't know we can't judge.
var callParams = []string{"name", "arguments", "_meta", "task", "inputResponses", "requestState"}

// readCall reads the params of a call. What is not judged must not be there.
func readCall(params jsontext.Value) (*call, error) {
	all, err := members(params, callParams)
	if err != nil {
		return nil, err
	}
	c := &call{}
	for name := range all {
		if !slices.Contains(callParams, name) {
			return nil, errors.New("a call has a member that is not known, and so is not verified")
		}
	}
	var ok bool
	if c.name, ok = asString(all["name"]); !ok || !callable(c.name) {
		return nil, errors.New("a call names no tool")
	}
	if len(all["_meta"]) > longestMeta || !isTask(all["task"]) {
		return nil, errors.New("what a call says beside its arguments is too long, or not known, and so is not verified")
	}
	c.arguments, c.task, c.responses, c.state = all["arguments"], all["task"], all["inputResponses"], all["requestState"]
	switch c.arguments.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull: // there are none
		c.arguments = jsontext.Value("{}")
	case jsontext.KindBeginObject:
	default:
		return nil, errors.New("the arguments of a call are an object")
	}
	if v, ok := all["_meta"]; ok {
		return c, c.readMeta(v)
	}
	return c, nil
}

// longestMeta is how long the part of a call may be that is for programs: it is not judged.
const longestMeta = 8 << 10

// isTask reports whether this is how long a task is to be kept, and nothing else.
func isTask(v jsontext.Value) bool {
	if v == nil {
		return true
	}
	all, err := members(v, []string{"ttl"})
	ttl, ok := all["ttl"]
	number := ttl.Kind() == jsontext.KindNumber && len(ttl) <= 20
	return err == nil && (len(all) == 0 || len(all) == 1 && ok && (number || ttl.Kind() == jsontext.KindNull))
}

// callable reports whether a tool can have this name. The gateway would cut spaces off. None has a name under which something else is judged.
func callable(name string) bool {
	return name != "" && name[0] != '(' && name == strings.TrimSpace(name) && !isOdd(name) && !isRequestName(name)
}

// isOdd reports whether the gateway, or a person, could take a name for another one.
func isOdd(name string) bool {
	return len(name) > 256 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// callIDs are where clients say their own names of calls.
var callIDs = []string{"claudecode/toolUseId", "callId"} // of Claude Code and Codex

// clientInfo is where a client says its name with each request (since 2026-07-28).
const clientInfo = "io.modelcontextprotocol/clientInfo"

func (c *call) readMeta(v jsontext.Value) error {
	meta, err := members(v, append([]string{"progressToken", clientInfo}, callIDs...))
	if err != nil {
		return err
	}
	var client struct {
		Name string `json:"name"`
	}
	if v, ok := meta[clientInfo]; ok && json.Unmarshal(v, &client) == nil {
		c.client = client.Name
	}
	for _, name := range callIDs {
		if id, ok := asString(meta[name]); ok && len(id) <= 256 {
			c.id = id
		}
	}
	if _, ok := keyOf(meta["progressToken"]); ok {
		c.token = meta["progressToken"]
	}
	return nil
}

const (
	usualWait = 60 * time.Second
	// wakefulWait is how long a call is held whose client gets messages about progress, and says when it no longer waits.
	wakefulWait = 600 * time.Second
	// margin is how long before the client's own time is over an answer comes.
	margin = 3 * time.Second
	// awake is how often a client gets a message that a call is still held.
	awake = time.Second
)

const wordsChanged = "The server has changed what it says of this tool. The owner has to look at the change with " +
	"`verifier mcp tools`, and accept it there with --accept, before the tool can be called. Nothing was run."

// judge asks about a call. It returns why the call may not run; "": it may.
func (p *peer) judge(ctx context.Context, r *request, c *call) (words string) {
	defer func() {
		if recover() != nil { // what it says may hold a part of the call
			words = "The verifier failed. Nothing was run."
		}
	}()
	if p.Definitions.changed(p.Server, c.name) {
		return wordsChanged
	}
	s, err := p.session()
	if err != nil {
		return wordsOf(err)
	}
	r.at = time.Now()
	params, again, words := p.retried(r, c)
	if words != "" {
		return words
	}
	stop := p.keepAwake(ctx, c.token)
	v, err := s.Ask(ctx, hook.Call{Tool: r.tool, Params: params, Annotations: p.Definitions.hints(p.Server, c.name),
		ID: c.id, Wait: p.waitFor(c) - margin, Again: again, Edits: r.edits && c.responses == nil})
	stop()
	switch {
	case err != nil:
		p.forget(s)
		return wordsOf(err)
	case !v.Allowed:
		return cmp.Or(v.Reason, "The verifier does not allow this. Nothing was run.")
	case p.Definitions.changed(p.Server, c.name): // while the owner was asked
		return wordsChanged
	}
	r.byHook, r.asked, r.edited = v.ByHook, v.Asked, v.Params
	return ""
}

// retried is what is judged of a call, and how it was asked about before. A call that answers a server's question has to be
// one that this client has made before. Where the answer holds text, that text leaves: it is judged with the arguments.
func (p *peer) retried(r *request, c *call) (params jsontext.Value, again *hook.Asked, words string) {
	if c.responses == nil && c.state == nil {
		return c.arguments, nil, ""
	}
	old, ok := p.retries.take(r.same, c.state)
	switch {
	case !ok:
		r.astray = true
		return nil, nil, "This call answers a question that the server has not asked about it. Make the call again without inputResponses and requestState. Nothing was run."
	case old.asked != nil && time.Since(old.at) <= keepRetries && old.wordless(c.responses):
		r.at = old.at
		return c.arguments, old.asked, ""
	case c.responses == nil:
		return c.arguments, nil, ""
	}
	all, err := members(c.arguments, []string{"inputResponses"})
	if _, twice := all["inputResponses"]; twice || err != nil {
		return nil, nil, "An argument of this call has the name of the answers to a server's question, so we can't tell which is which. Nothing was run."
	}
	all["inputResponses"] = c.responses
	params, err = json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return nil, nil, "The verifier failed. Nothing was run."
	}
	return params, nil, ""
}

func (p *peer) waitFor(c *call) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case c.request && p.Wait == 0 && c.token == nil: // what is known of clients is how long they wait for tools
		return usualWait
	case p.wait > 0:
		return p.wait
	case patience[c.client] > 0:
		return patience[c.client]
	case c.token != nil:
		return wakefulWait
	}
	return usualWait
}

// withArguments is a call with other arguments, and otherwise as it came. It holds nothing but what is known of calls.
func (m *message) withArguments(arguments jsontext.Value) ([]byte, error) {
	all, err := members(m.params, callParams)
	if err != nil {
		return nil, err
	}
	all["arguments"] = arguments
	params, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`, m.id, params), nil
}

// wordsOf is why a call was not asked about, in words for the agent and its owner.
func wordsOf(err error) string {
	if words, ok := hook.Words(err); ok {
		return words
	}
	return "The verifier failed. Nothing was run."
}

// keepAwake tells a client that asks for it, again and again, that the call is held. The numbers are small fractions, so
// that those of the server, which come later, are larger.
func (g *gate) keepAwake(ctx context.Context, token jsontext.Value) (stop func()) {
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(awake)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			const held = `{"jsonrpc":"2.0","method":"notifications/progress",` +
				`"params":{"progressToken":%s,"progress":%.6f,"message":"Waiting for the owner."}}`
			if g.client.send(fmt.Appendf(nil, held, token, float64(n)/1e6)) != nil {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// digest is one of several texts.
func digest(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		one := sha256.Sum256(part)
		sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func canonical(v jsontext.Value) []byte {
	c := v.Clone()
	if c.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return v
	}
	return c
}
