package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// call is what a client says of a call.
type call struct {
	name      string
	arguments jsontext.Value
	id        string         // the client's own name of it, where it says one
	token     jsontext.Value // whom to tell of progress; nil: nobody
	task      jsontext.Value
	responses jsontext.Value // a retry: what the server has asked for
	state     jsontext.Value // a retry: what the server wants to see again
}

// callParams are the members that a call may have. What we don't know we can't judge.
var callParams = []string{"name", "arguments", "_meta", "task", "inputResponses", "requestState"}

// readCall reads the params of a call. What is not judged must not be there.
func readCall(params jsontext.Value) (c call, err error) {
	all, err := members(params, callParams)
	if err != nil {
		return c, err
	}
	for name := range all {
		if !slices.Contains(callParams, name) {
			return c, errors.New("a call has a member that is not known, and so is not verified")
		}
	}
	var ok bool
	if c.name, ok = asString(all["name"]); !ok || !callable(c.name) {
		return c, errors.New("a call names no tool")
	}
	c.arguments, c.task, c.responses, c.state = all["arguments"], all["task"], all["inputResponses"], all["requestState"]
	switch c.arguments.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull: // there are none
		c.arguments = jsontext.Value("{}")
	case jsontext.KindBeginObject:
	default:
		return c, errors.New("the arguments of a call are an object")
	}
	if v, ok := all["_meta"]; ok {
		return c, c.readMeta(v)
	}
	return c, nil
}

// callable reports whether a tool can have this name. The gateway would cut spaces off.
func callable(name string) bool {
	odd := strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	return name != "" && name == strings.TrimSpace(name) && len(name) <= 256 && !odd
}

// callIDs are where clients say their own names of calls.
var callIDs = []string{"claudecode/toolUseId"}

func (c *call) readMeta(v jsontext.Value) error {
	meta, err := members(v, append([]string{"progressToken"}, callIDs...))
	if err != nil {
		return err
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
	// wakefulWait is how long a call is held whose client is told of progress, and says when it no longer waits.
	wakefulWait = 600 * time.Second
	// margin is how long before the client's own time is over an answer comes.
	margin = 3 * time.Second
	// awake is how often a client is told that a call is still held.
	awake = time.Second
)

// judge asks about a call, and passes it on or answers it.
func (g *gate) judge(ctx context.Context, m message, r *request, c call) {
	defer func() {
		if recover() != nil { // what it says may hold a part of the call
			g.deny(m.key, r, "The verifier failed. Nothing was run.")
		}
	}()
	r.same = sameCall(c.name, c.arguments)
	if g.Definitions.changed(g.Server, c.name) {
		g.deny(m.key, r, "The server has changed what it says of this tool. The owner has to look at the change before it can be called. Nothing was run.")
		return
	}
	if (c.responses != nil || c.state != nil) && g.retries.take(r.same, c.state) {
		g.passed(m, r)
		return
	}
	s, err := g.session()
	if err != nil {
		g.deny(m.key, r, wordsOf(err))
		return
	}
	stop := g.keepAwake(ctx, c.token)
	v, err := s.Ask(ctx, hook.Call{Tool: r.tool, Params: c.arguments, Annotations: g.hintsOf(c.name), ID: c.id, Wait: g.waitFor(c) - margin})
	stop()
	switch {
	case err != nil:
		g.forget(s)
		g.deny(m.key, r, wordsOf(err))
	case !v.Allowed:
		g.deny(m.key, r, v.Reason)
	default:
		r.spent = v.Spent
		g.passed(m, r)
	}
}

// passed hands a call that may run to the server.
func (g *gate) passed(m message, r *request) {
	if err := g.pass(m, r); err != nil {
		g.logf("The server of tools could not be reached.")
	}
}

func (g *gate) hintsOf(tool string) jsontext.Value {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hints[tool]
}

func (g *gate) waitFor(c call) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.wait > 0:
		return g.wait
	case c.token != nil:
		return wakefulWait
	}
	return usualWait
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
			line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%.6f,"message":"Waiting for the owner."}}`+"\n", token, float64(n)/1e6)
			if g.client.send(line) != nil {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// sameCall names a call by its tool and its arguments.
func sameCall(name string, arguments jsontext.Value) string {
	return digest([]byte(name), canonical(arguments))
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
