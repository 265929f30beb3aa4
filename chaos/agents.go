package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
)

// call is one request, and what came of it.
type call struct {
	id           string
	conversation int
	tool         string
	mark         string // in its command; "" if it has none
	body         []byte
	to           int  // the gateway
	stale        bool // its timestamp is beyond the tolerance

	first       time.Time // when it was sent for the first time
	sent, ended time.Time
	allowed     bool
	answered    bool
	reason      string
	fault       string // of the connection, or of the answer
}

// agents are runtimes that call. What they were told is kept.
type agents struct {
	gateways [2]*gateway
	http     *http.Client
	left     atomic.Int64 // calls that may still be made
	serial   atomic.Int64

	mu    sync.Mutex
	calls []*call
}

func newAgents(g [2]*gateway, calls int) *agents {
	a := &agents{gateways: g, http: &http.Client{
		Timeout:   hold + 10*time.Second,
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 32},
	}}
	a.left.Store(int64(calls))
	return a
}

// tolerance is the gateways': a call's clock may be as far off.
const tolerance = 5 * time.Minute

// draft makes a call. Its clock may be wrong.
func (a *agents) draft(conversation int, tool, mark string, clock time.Duration) *call {
	n := a.serial.Add(1)
	c := &call{id: fmt.Sprint("request-", n), conversation: conversation, tool: tool, mark: mark, stale: clock.Abs() > tolerance}
	params := fmt.Sprintf(`{"command":"echo %s"}`, mark)
	switch tool {
	case "read":
		params = `{"path":"notes.txt"}`
	case "web_fetch":
		params = `{"url":"https://example.com/"}`
	}
	c.body = fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"tool":{"name":%q,"params":%s},`+
		`"context":{"sessionKey":"agent:a%d:chaos:%d","senderId":"1","senderIsOwner":true}}`,
		time.Now().Add(clock).UTC().Format(time.RFC3339Nano), c.id, tool, params, conversation%16, conversation)
	return c
}

// again is the same request, to be sent once more.
func (c *call) again() *call {
	next := *c
	next.sent, next.ended, next.allowed, next.answered, next.reason, next.fault = time.Time{}, time.Time{}, false, false, "", ""
	return &next
}

// send sends a call to a gateway and notes what came of it.
func (a *agents) send(ctx context.Context, c *call, to int) *call {
	if a.left.Add(-1) < 0 || ctx.Err() != nil {
		return c
	}
	c.to, c.sent = to, time.Now()
	if c.first.IsZero() {
		c.first = c.sent
	}
	c.fault = a.post(c)
	c.ended = time.Now()
	a.mu.Lock()
	a.calls = append(a.calls, c)
	a.mu.Unlock()
	if !c.allowed && c.ended.Sub(c.sent) < time.Second {
		sleep(ctx, 300*time.Millisecond) // where something is broken, calls are not to be used up at once
	}
	return c
}

// post is one exchange; what it returns is what was wrong with it. It outlives
// the run: every call that was begun is seen to its end.
func (a *agents) post(c *call) string {
	ctx, cancel := context.WithTimeout(context.Background(), a.http.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.gateways[c.to].url+"/verify", bytes.NewReader(c.body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set(hmac.RequestHeader, hmac.Sign([]byte(webhookSecret), c.body))
	res, err := a.http.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	var said struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if err := json.Unmarshal(text, &said); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Sprintf("%s: %s", res.Status, text)
	}
	c.answered, c.allowed, c.reason = true, said.Decision == "allow", said.Reason
	return ""
}

// live is an agent's life: one conversation after the other, until the calls are
// used up. Each begins clean, fetches something and goes on tainted.
func (a *agents) live(ctx context.Context, r *rand.Rand, next func() int) {
	for ctx.Err() == nil && a.left.Load() > 0 {
		t := talk{agents: a, r: r, id: next()}
		t.calm(ctx)
		t.taint(ctx)
		for range 3 + r.IntN(6) {
			t.act(ctx)
		}
	}
}

// talk is a conversation.
type talk struct {
	*agents
	r     *rand.Rand
	id    int
	count int
	last  *call // the last command
}

func (t *talk) any() int { return t.r.IntN(2) }

func (t *talk) command() *call {
	t.count++
	return t.draft(t.id, "exec", fmt.Sprintf("c%dn%dz", t.id, t.count), 0)
}

// calm is what passes by the policy, and what never does.
func (t *talk) calm(ctx context.Context) {
	for range 1 + t.r.IntN(3) {
		t.send(ctx, t.draft(t.id, "read", "", 0), t.any())
	}
	t.send(ctx, t.command(), t.any())
	if t.r.IntN(4) == 0 { // a runtime whose clock has jumped
		off := tolerance + time.Duration(1+t.r.IntN(3600))*time.Second
		if t.r.IntN(2) == 0 {
			off = -off
		}
		t.count++
		t.send(ctx, t.draft(t.id, "exec", fmt.Sprintf("c%dn%dz", t.id, t.count), off), t.any())
	}
}

// taint brings something in, now and then beside a command.
func (t *talk) taint(ctx context.Context) {
	for range 20 {
		fetch, to := t.draft(t.id, "web_fetch", "", 0), t.any()
		if t.r.IntN(3) == 0 {
			beside, other := t.command(), t.any()
			var wg sync.WaitGroup
			wg.Go(func() { t.send(ctx, beside, other) })
			t.send(ctx, fetch, to)
			wg.Wait()
		} else {
			t.send(ctx, fetch, to)
		}
		if fetch.allowed {
			return
		}
	}
}

// act is one thing that a tainted agent does.
func (t *talk) act(ctx context.Context) {
	switch n := t.r.IntN(10); {
	case n < 5 || t.last == nil: // something new
		t.last = t.send(ctx, t.command(), t.any())
	case n < 7: // the same again, as a new request
		t.last = t.send(ctx, t.draft(t.id, "exec", t.last.mark, 0), t.any())
	case n < 8: // the very request again, at the other gateway
		t.send(ctx, t.last.again(), 1-t.last.to)
	case n < 9: // two identical ones at once, of which one yes lets one through
		c := t.command()
		twin, to := t.draft(t.id, "exec", c.mark, 0), t.any()
		var wg sync.WaitGroup
		wg.Go(func() { t.send(ctx, twin, 1-to) })
		t.last = t.send(ctx, c, to)
		wg.Wait()
	default:
		t.send(ctx, t.draft(t.id, "read", "", 0), t.any())
	}
}
