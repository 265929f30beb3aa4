package hook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/lineage"
)

// Gateway is where calls are asked about.
type Gateway struct {
	URL    string      // of /verify
	Secret []byte      // what calls are signed with
	Bearer string      // "" where the gateway demands none
	TLS    *tls.Config // whom to trust; nil: those that the system trusts

	lasting *http.Client // of a program that asks often; nil: a new one for each message
}

// Bounds of what is sent and read.
const (
	maxCall   = 1 << 20
	maxEvent  = 8 << 20
	maxAnswer = 64 << 10
)

// message is one request, see docs/spec/protocol.md.
type message struct {
	Version   int         `json:"version"`
	Timestamp string      `json:"timestamp"`
	RequestID string      `json:"requestId"`
	Tool      *tool       `json:"tool,omitzero"`
	Context   callContext `json:"context"`
	Event     any         `json:"event,omitzero"`
}

type tool struct {
	Name        string         `json:"name"`
	Params      jsontext.Value `json:"params"`
	Annotations jsontext.Value `json:"annotations,omitzero"`
}

type callContext struct {
	AgentID         string      `json:"agentId,omitzero"`
	SessionKey      string      `json:"sessionKey,omitzero"`
	SessionID       string      `json:"sessionId,omitzero"`
	RunID           string      `json:"runId,omitzero"`
	ToolCallID      string      `json:"toolCallId,omitzero"`
	SpawnedBy       string      `json:"spawnedBy,omitzero"`
	Trigger         string      `json:"trigger,omitzero"`
	InputProvenance string      `json:"inputProvenance,omitzero"`
	SenderIsOwner   bool        `json:"senderIsOwner,omitzero"`
	SecretsRead     bool        `json:"secretsRead,omitzero"`
	UserMessages    []userWords `json:"userMessages,omitzero"`
	WaitMs          int64       `json:"waitMs,omitzero"`
	Workspace       string      `json:"workspace,omitzero"`
	Directory       string      `json:"directory,omitzero"`
	Edits           bool        `json:"edits,omitzero"`
}

type userWords struct {
	Text          string `json:"text"`
	SenderIsOwner bool   `json:"senderIsOwner"`
	At            string `json:"at,omitzero"`
}

// prints are the fingerprints of a text.
func (g *Gateway) prints(text string) lineage.Extract { return lineage.NewKey(g.Secret).Extract(text) }

// Asked is a call as it was asked about. The same message gets the same answer, unless the owner has paused the agent or
// restricted the call since.
type Asked struct {
	id   string
	body []byte
}

// pack makes a message for the path of an event, or of calls.
func pack(event string, m message) (*Asked, error) {
	m.Version, m.Timestamp, m.RequestID = 1, time.Now().UTC().Format(time.RFC3339), NewID()
	body, err := json.Marshal(m)
	switch {
	case err != nil:
		return nil, failure("The call holds text that can't be verified. Nothing was run.")
	case event == "" && len(body) > maxCall, len(body) > maxEvent:
		return nil, failure("The call is too large to be verified. Nothing was run.")
	}
	return &Asked{m.RequestID, body}, nil
}

// send sends it, and returns the answer once its signature was checked.
func (g *Gateway) send(ctx context.Context, event string, sent *Asked) ([]byte, error) {
	address, err := g.address(event)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(sent.body))
	if err != nil {
		return nil, failure("The verifier's address can't be used. Nothing was run.")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(hmac.RequestHeader, hmac.Sign(g.Secret, sent.body))
	if g.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+g.Bearer)
	}
	res, err := g.client().Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(ctx, err)
	case res.StatusCode == http.StatusUnauthorized:
		return nil, failure("The verifier does not accept this hook's secret. Nothing was run.")
	case res.StatusCode != http.StatusOK || len(answer) > maxAnswer:
		return nil, failure("What answers at the verifier's address is not a verifier. Nothing was run.")
	case !hmac.MatchAnswer(g.Secret, sent.id, answer, res.Header.Get(hmac.AnswerHeader)):
		return nil, failure("The verifier's answer could not be authenticated. Nothing was run.")
	}
	return answer, nil
}

// ask sends a call and returns what the gateway has signed.
func (g *Gateway) ask(ctx context.Context, t tool, c callContext) (v verdict, err error) {
	sent, err := pack("", message{Tool: &t, Context: c})
	if err != nil {
		return v, err
	}
	return g.askAgain(ctx, sent)
}

// askAgain sends a call as it was asked about before.
func (g *Gateway) askAgain(ctx context.Context, sent *Asked) (v verdict, err error) {
	answer, err := g.send(ctx, "", sent)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(answer, &v); err != nil || v.Decision != "allow" && v.Decision != "deny" {
		return verdict{}, failure("The verifier's answer holds no decision. Nothing was run.")
	}
	if v.Params != nil && (v.Decision != "allow" || !isObject(v.Params)) {
		return verdict{}, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	return v, nil
}

// tell sends one event and returns the answer to it.
func (g *Gateway) tell(ctx context.Context, name string, event any, c callContext) ([]byte, error) {
	sent, err := pack(name, message{Context: c, Event: event})
	if err != nil {
		return nil, err
	}
	answer, err := g.send(ctx, name, sent)
	if err != nil {
		return nil, err
	}
	var got struct {
		Accepted bool `json:"accepted"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || !got.Accepted {
		return nil, failure("The verifier did not accept the report about the session.")
	}
	return answer, nil
}

// client uses no proxy and follows no redirect: what we send is for one server. It keeps no connection, unless it is to last.
func (g *Gateway) client() *http.Client {
	if g.lasting != nil {
		return g.lasting
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: g.TLS, DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// address is that of calls, or of an event beside it.
func (g *Gateway) address(event string) (string, error) {
	u, err := url.Parse(g.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", failure("The verifier's address is no URL. Nothing was run.")
	}
	if event != "" {
		u.Path = u.Path[:strings.LastIndexByte(u.Path, '/')+1] + "hooks/" + event
	}
	return u.String(), nil
}

func unreachable(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure("The verifier did not answer in time. Nothing was run.")
	case ctx.Err() != nil:
		return failure("The verifier's hook was stopped before there was an answer. Nothing was run.")
	case isCertificate(err):
		return failure("The certificate at the verifier's address is not one that this hook trusts. Nothing was run.")
	}
	return failure("The verifier can't be reached. Nothing was run. Is `verifier serve` running?")
}

func isCertificate(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	return unknown || invalid || other
}

// NewID is a random UUID, version 4.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
