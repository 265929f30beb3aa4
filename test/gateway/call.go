package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
)

var requests atomic.Int64

// Context is what a runtime says of a call besides the tool.
type Context = map[string]any

// Call is one tool call to send.
type Call struct {
	Tool    string
	Params  string // JSON; empty means {}
	ID      string // request id; empty means a fresh one
	At      time.Time
	Context Context
}

// OwnerIn is the context of a direct message from the owner, in a session.
func OwnerIn(session string) Context {
	return Context{"sessionKey": "agent:main:" + session, "senderId": "1", "senderIsOwner": true}
}

// Here is the same, of a runtime that says where its workspace is and on which system its commands run.
func Here(session string) Context {
	return With(OwnerIn(session), "workspace", "/home/me/app", "platform", "linux")
}

// Spawned is the context of a session that another one started.
func Spawned(session, by string) Context {
	return Context{"sessionKey": "agent:main:" + session, "spawnedBy": "agent:main:" + by}
}

// With adds members to a context; nil takes one away.
func With(ctx Context, pairs ...any) Context {
	out := Context{}
	for k, v := range ctx {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		name := fmt.Sprint(pairs[i])
		if out[name] = pairs[i+1]; out[name] == nil {
			delete(out, name)
		}
	}
	return out
}

// Sh is a command.
func Sh(command string, ctx Context) Call {
	return Call{Tool: "exec", Params: fmt.Sprintf(`{"command":%q}`, command), Context: ctx}
}

// Fetch reads a page, which taints the conversation.
func Fetch(ctx Context) Call {
	return Call{Tool: "web_fetch", Params: `{"url":"https://example.com/page"}`, Context: ctx}
}

// Impatient makes a call that can't wait: it is denied at once, with the question's reference where a person is asked.
func Impatient(c Call) Call {
	c.Context = With(c.Context, "waitMs", 1)
	return c
}

// Body is the call as it is signed and sent.
func (c Call) Body() []byte {
	if c.Params == "" {
		c.Params = "{}"
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("request-%d", requests.Add(1))
	}
	if c.At.IsZero() {
		c.At = time.Now()
	}
	ctx, err := json.Marshal(c.Context, json.Deterministic(true))
	if err != nil || c.Context == nil {
		ctx = []byte("{}")
	}
	name, _ := json.Marshal(c.Tool)
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"tool":{"name":%s,"params":%s},"context":%s}`,
		c.At.UTC().Format(time.RFC3339Nano), c.ID, name, c.Params, ctx)
}

// Answer is what a client gets.
type Answer struct {
	Status   int           `json:"-"`
	Decision string        `json:"decision"`
	Reason   string        `json:"reason"`
	Ref      string        `json:"ref"`
	Question string        `json:"question"` // what the client asks about later
	Raw      string        `json:"-"`
	HTTPID   string        `json:"-"`
	Took     time.Duration `json:"-"`
}

// Allowed reports an allow.
func (a Answer) Allowed() bool { return a.Status == http.StatusOK && a.Decision == "allow" }

// late reports a deny because the store was too slow, as a busy machine's is.
func (a Answer) late() bool { return strings.Contains(a.Reason, "store can't be reached") }

// Sign signs a body with the gateway's secret.
func (g *Gateway) Sign(body []byte) string { return hmac.Sign([]byte(g.Secret), body) }

// Try sends raw bytes with signature headers of their own.
func (g *Gateway) Try(ctx context.Context, body []byte, signatures ...string) (a Answer, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/verify", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header[hmac.RequestHeader] = nil
	for _, s := range signatures {
		req.Header.Add(hmac.RequestHeader, s)
	}
	began := time.Now()
	res, err := g.http().Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return a, err
	}
	if res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &a); err != nil {
			return a, fmt.Errorf("read %q: %w", text, err)
		}
	}
	a.Status, a.Raw = res.StatusCode, string(text)
	a.HTTPID, a.Took = res.Header.Get(server.RequestIDHeader), time.Since(began)
	return a, nil
}

// Post is Try where the gateway must answer.
func (g *Gateway) Post(body []byte, signatures ...string) Answer {
	g.t.Helper()
	a, err := g.Try(context.Background(), body, signatures...)
	if err != nil {
		g.t.Error(err)
	}
	return a
}

// Send signs a call and sends it; again, where the store was too slow, as the answer asks for.
func (g *Gateway) Send(c Call) (a Answer) {
	g.t.Helper()
	for range 10 {
		body := c.Body()
		if a = g.Post(body, g.Sign(body)); !a.late() {
			return a
		}
	}
	return a
}

// Hold sends a call and lets it wait; again, where the store was too slow to ask anyone.
func (g *Gateway) Hold(c Call) <-chan Answer {
	out := make(chan Answer, 1)
	go func() {
		var a Answer
		for try := 0; try == 0 || try < 10 && a.late() && a.Ref == ""; try++ {
			a = <-g.Later(context.Background(), c.Body())
		}
		out <- a
	}()
	return out
}

// Later sends bytes with their signature and lets them wait. The context is the client's connection.
func (g *Gateway) Later(ctx context.Context, body []byte) <-chan Answer {
	out := make(chan Answer, 1)
	go func() {
		a, err := g.Try(ctx, body, g.Sign(body))
		if err != nil {
			a.Raw = err.Error()
		}
		out <- a
	}()
	return out
}

// Again sends the very same bytes as often as the store is too slow for them.
func (g *Gateway) Again(body []byte) (a Answer) {
	g.t.Helper()
	for range 10 {
		if a = g.Post(body, g.Sign(body)); !a.late() {
			return a
		}
	}
	return a
}

// By is the same gateway, asked by a client with another secret.
func (g *Gateway) By(secret string) *Gateway {
	other := *g
	other.Secret = secret
	return &other
}

// In is the same gateway for a subtest.
func (g *Gateway) In(t testing.TB) *Gateway {
	other := *g
	other.t = t
	return &other
}

// Allow says that a call must pass.
func (g *Gateway) Allow(c Call) Answer {
	g.t.Helper()
	a := g.Send(c)
	if !a.Allowed() {
		g.t.Errorf("%s %s: got %d %s, want allow", c.Tool, c.Params, a.Status, a.Raw)
	}
	return a
}

// Deny says that it must be denied, with a reason.
func (g *Gateway) Deny(c Call) Answer {
	g.t.Helper()
	a := g.Send(c)
	if a.Status != http.StatusOK || a.Decision != "deny" || a.Reason == "" {
		g.t.Errorf("%s %s: got %d %s, want a deny with a reason", c.Tool, c.Params, a.Status, a.Raw)
	}
	return a
}

// Ask says that a person must be asked about it.
func (g *Gateway) Ask(c Call) Answer {
	g.t.Helper()
	a := g.Send(Impatient(c))
	if a.Status != http.StatusOK || a.Decision != "deny" || a.Ref == "" {
		g.t.Errorf("%s %s in %v: got %d %s, want it to be asked about", c.Tool, c.Params, c.Context["sessionKey"],
			a.Status, a.Raw)
	}
	return a
}
