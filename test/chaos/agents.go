package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	to           int       // the gateway
	stamp        time.Time // when it says that it was made

	first       time.Time // when it was sent for the first time
	sent, ended time.Time
	allowed     bool
	answered    bool
	reason      string
	fault       error // of the connection, or of the answer
}

// agents are runtimes that call. What they were told is kept.
type agents struct {
	gateways [2]*gateway
	http     *http.Client
	left     atomic.Int64 // calls that may still be made
	serial   atomic.Int64
	asking   chan struct{} // a place for each that may have to wait for the owner

	mu    sync.Mutex
	calls []*call
}

func newAgents(g [2]*gateway, calls int) *agents {
	a := &agents{gateways: g, asking: make(chan struct{}, 4), http: &http.Client{
		Timeout: hold + 10*time.Second,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 32,
		},
	}}
	a.left.Store(int64(calls))
	return a
}

// tolerance is the gateways': a call's clock may be as far off.
const tolerance = 5 * time.Minute

// draft makes a call to a gateway. The clock that it is made by may be wrong.
func (a *agents) draft(conversation int, tool, mark string, to int, clock time.Duration) *call {
	n := a.serial.Add(1)
	c := &call{id: fmt.Sprint("request-", n), conversation: conversation, tool: tool, mark: mark, to: to}
	c.stamp = time.Now().Add(clock)
	params := fmt.Sprintf(`{"command":"uname %s"}`, mark)
	switch tool {
	case "read":
		params = `{"path":"notes.txt"}`
	case "web_fetch":
		params = `{"url":"https://example.com/"}`
	case "message":
		params = fmt.Sprintf(`{"action":"send","to":"someone","message":"%s"}`, mark)
	}
	c.body = fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"tool":{"name":%q,"params":%s},`+
		`"context":{"sessionKey":"agent:a%d:chaos:%d","senderId":"1","senderIsOwner":true}}`,
		c.stamp.UTC().Format(time.RFC3339Nano), c.id, tool, params, conversation%16, conversation)
	return c
}

// again is the same request, to be sent once more, to the other gateway.
func (c *call) again() *call {
	return &call{
		id: c.id, conversation: c.conversation, tool: c.tool, mark: c.mark, body: c.body, to: 1 - c.to,
		stamp: c.stamp, first: c.first,
	}
}

// send sends a call to its gateway and notes what came of it.
func (a *agents) send(ctx context.Context, c *call) *call {
	if a.left.Add(-1) < 0 || ctx.Err() != nil {
		return c
	}
	c.sent = time.Now()
	if c.first.IsZero() {
		c.first = c.sent
	}
	c.fault = a.post(c)
	c.ended = time.Now()
	a.mu.Lock()
	a.calls = append(a.calls, c)
	a.mu.Unlock()
	if !c.allowed && c.ended.Sub(c.sent) < time.Second {
		sleep(ctx, 700*time.Millisecond) // where something is broken, calls are not to be used up at once
	}
	return c
}

// post is one exchange; what it returns is what was wrong with it. It outlives the run: every call that was begun is
// seen to its end.
func (a *agents) post(c *call) (err error) {
	url := a.gateways[c.to].url + "/verify"
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	req.Header.Set(hmac.RequestHeader, hmac.Sign([]byte(webhookSecret), c.body))
	res, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var said struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, json.Unmarshal(text, &said)); err != nil || res.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%s: %s", res.Status, text))
	}
	c.answered, c.allowed, c.reason = true, said.Decision == "allow", said.Reason
	return nil
}
