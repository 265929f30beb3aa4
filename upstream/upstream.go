// Package upstream asks further verifiers of the same protocol: another model, an
// enterprise's policy server. Every one of them must allow.
//
// A call goes out with its secrets hidden, signed with that verifier's secret,
// and only an answer that carries that verifier's own signature counts, unless
// the owner says that it signs none. It
// refuses to guess: no answer, a late one, an unsigned one, one from elsewhere
// (no redirect is followed) or one that is neither allow nor deny is a deny. It
// sends along which verifiers have asked already, so that a circle of them ends.
package upstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// ViaHeader names the verifiers that a call has come through.
const ViaHeader = "X-Verifier-Via"

// DefaultTimeout is how long one verifier may take.
const DefaultTimeout = 5 * time.Second

const maxAnswer = 64 << 10

// One is one further verifier.
type One struct {
	URL     string
	Agents  []string // whose calls it is asked about; nil means every agent's
	Secret  string
	Timeout time.Duration // 0 means DefaultTimeout
	Headers map[string]string
	// Plain takes an answer without a signature, as the published protocol has it.
	// Any answer from the address is then believed, so it is
	// for https and for this machine only.
	Plain bool
}

// All are those that must allow. The zero value asks none.
type All struct {
	self   string
	ones   []One
	client *http.Client
}

// New makes one of several. Self is what this verifier is known by to others.
func New(self string, ones []One) *All {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // that is what it is
	return &All{self: self, ones: ones, client: &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ErrDenied says that one of them does not allow the call.
var ErrDenied = errors.New("upstream: denied")

// isFor reports whether a verifier is asked about an agent's calls. Ids are compared
// without case, and a call that names no agent could be any agent's.
func (o *One) isFor(agent string) bool {
	return o.Agents == nil || agent == "" || slices.ContainsFunc(o.Agents, func(id string) bool { return strings.EqualFold(id, agent) })
}

// Ask asks all of them that are for the call's agent at once, and returns nil if every one allows. Params are
// those that may be shown, and so are the user's words.
func (a *All) Ask(ctx context.Context, c *toolcall.Call, params jsontext.Value, said []string) error {
	var ones []*One
	for i := range a.ones {
		if a.ones[i].isFor(c.Agent()) {
			ones = append(ones, &a.ones[i])
		}
	}
	answers := make(chan error, len(ones))
	for _, one := range ones {
		go func() {
			defer func() {
				if p := recover(); p != nil {
					answers <- errors.New("upstream: a question ended in a panic")
				}
			}()
			answers <- a.ask(ctx, one, c, params, said)
		}()
	}
	var first error
	for range ones {
		if err := <-answers; err != nil && first == nil {
			first = err
		}
	}
	return first
}

type request struct {
	Version   int              `json:"version"`
	Timestamp string           `json:"timestamp"`
	RequestID string           `json:"requestId"`
	Tool      requestTool      `json:"tool"`
	Context   toolcall.Context `json:"context"`
}

type requestTool struct {
	Name   string         `json:"name"`
	Params jsontext.Value `json:"params"`
}

func (a *All) ask(ctx context.Context, one *One, c *toolcall.Call, params jsontext.Value, said []string) error {
	timeout := one.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if until, ok := ctx.Deadline(); ok { // ours, or the caller's if that is nearer
		timeout = max(time.Until(until), time.Millisecond)
	}
	id := newID()
	body, err := json.Marshal(request{
		Version: 1, Timestamp: time.Now().UTC().Format(time.RFC3339), RequestID: id,
		Tool: requestTool{c.Sent, params}, Context: contextOf(c, said, timeout),
	})
	if err != nil {
		return fmt.Errorf("upstream: write the call: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, one.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("upstream: the address can't be used")
	}
	for name, value := range one.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	if one.Secret != "" {
		req.Header.Set(hmac.RequestHeader, hmac.Sign([]byte(one.Secret), body))
	}
	req.Header.Set(ViaHeader, strings.Join(append(append([]string(nil), c.Via...), a.self), ", "))
	return a.exchange(req, one, id)
}

// exchange sends a call and believes only a signed allow.
func (a *All) exchange(req *http.Request, one *One, id string) error {
	res, err := a.client.Do(req)
	if err != nil {
		return errors.New("upstream: no answer") // the error would name the address
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	var answer struct {
		Decision string         `json:"decision"`
		Params   jsontext.Value `json:"params"` // another owner's change is not what is judged here
	}
	switch {
	case err != nil || len(text) > maxAnswer || res.StatusCode != http.StatusOK:
		return fmt.Errorf("upstream: no answer that can be read, status %d", res.StatusCode)
	case !one.signed(res.Header.Values(hmac.AnswerHeader), id, text):
		return errors.New("upstream: the answer is not signed by whom we asked")
	case json.Unmarshal(text, &answer) != nil || answer.Decision != "allow" || answer.Params != nil:
		return ErrDenied
	}
	return nil
}

// signed reports whether an answer may be believed. One that has a signature must
// have the right one, also where none is needed.
func (o *One) signed(signatures []string, id string, answer []byte) bool {
	if o.Plain && len(signatures) == 0 {
		return true
	}
	return o.Secret != "" && len(signatures) == 1 && hmac.MatchAnswer([]byte(o.Secret), id, answer, signatures[0])
}

// contextOf is what the other verifier gets: all that the caller attested, but
// of what people said only the owner's own words, as they may be shown.
func contextOf(c *toolcall.Call, said []string, timeout time.Duration) toolcall.Context {
	out := c.Context
	out.Edits = false // what we ask about here is what the caller runs
	out.UserMessages, out.WaitMs = nil, timeout.Milliseconds()
	for _, s := range said {
		out.UserMessages = append(out.UserMessages, toolcall.UserMessage{Text: s, SenderIsOwner: true})
	}
	return out
}

// MaxVia is how many verifiers a call may come through.
const MaxVia = 8

// ParseVia reads the header. Ok is false where the call comes round to self, or
// from too far, or where a name is missing or none that we would give.
func ParseVia(header []string, self string) (via []string, ok bool) {
	for _, h := range header {
		for name := range strings.SplitSeq(h, ",") {
			if name = strings.TrimSpace(name); name == "" || name == self || len(via) == MaxVia || len(name) > 64 {
				return nil, false
			}
			via = append(via, name)
		}
	}
	return via, true
}

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
