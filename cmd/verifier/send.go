package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// SendCmd sends one call, as an agent's runtime would.
type SendCmd struct {
	Tool    string            `help:"The tool that the agent wants to call." required:"" placeholder:"NAME"`
	Params  string            `help:"Its arguments, a JSON object." default:"{}" placeholder:"JSON"`
	Session string            `help:"The conversation: context.sessionKey." placeholder:"KEY"`
	Context string            `help:"More of the call's context, a JSON object." default:"{}" placeholder:"JSON"`
	Wait    *time.Duration    `help:"How long to wait for a person's answer, such as 5m; 0s asks and does not wait. Without it: as long as the question is open." placeholder:"TIME"`
	URL     string            `help:"Where the server is." env:"VERIFIER_URL" placeholder:"URL"`
	Secret  string            `help:"What to sign with. On a shared machine use the variable: others see your command line." env:"VERIFIER_SECRET" placeholder:"TEXT"`
	Header  map[string]string `help:"Another header; may be given several times." mapsep:"none" placeholder:"NAME=VALUE"`
	JSON    bool              `help:"Print the answer as it came." name:"json"`
	where
}

// longestWait is how long one request waits for a person: about as long as a
// server holds one. After that the call is sent again, and joins the same question.
const longestWait = 9 * time.Minute

// aMoment is how long the command waits before it says what it waits for.
const aMoment = time.Second

// maxReply is the most that is read of an answer.
const maxReply = 4 << 20

// Run sends and prints.
func (c *SendCmd) Run(a *app) error {
	t, err := c.target(a, c.URL)
	if err != nil {
		return err
	}
	secret, err := t.secret(c.Secret)
	if err != nil {
		return err
	}
	tell := time.AfterFunc(aMoment, func() {
		a.warnf("Waiting for %s to answer. `verifier watch%[2]s` asks you in another terminal, `verifier pending%[2]s` shows the question. Ctrl-C gives up.\n", t.askedPeople(c.URL != ""), c.same())
	})
	defer tell.Stop()
	for start := time.Now(); ; {
		id := hook.NewID()
		body, err := c.body(id, time.Now(), c.left(start))
		if err != nil {
			return err
		}
		answer, err := c.post(a, t, secret, id, body)
		switch {
		case a.ctx.Err() != nil:
			return &failure{"you gave up before there was an answer", "the question stays open for a while: a yes lets the same call pass once"}
		case err != nil:
			return err
		}
		if d, err := decisionOf(answer); err != nil || d.Question == "" || c.left(start) < aMoment {
			tell.Stop()
			return c.print(a, answer)
		}
		select { // a server that holds nothing must not be asked all the time
		case <-time.After(aMoment):
		case <-a.ctx.Done():
		}
	}
}

// left is how long the next request may wait.
func (c *SendCmd) left(start time.Time) time.Duration {
	if c.Wait == nil {
		return longestWait
	}
	return min(longestWait, *c.Wait-time.Since(start))
}

// askedPeople are those who may answer, as far as we know: a server elsewhere has its own.
func (t *target) askedPeople(elsewhere bool) string {
	people := t.config.People()
	if elsewhere || len(people) == 0 {
		return "the owner"
	}
	var names []string
	for _, p := range people {
		names = append(names, printable(p.Name))
	}
	return strings.Join(names, " or ")
}

// same are the flags by which another command finds the same server.
func (c *SendCmd) same() (out string) {
	if c.Config != "" && !c.found {
		out += " --config " + shellWord(c.Config)
	}
	if c.State != "" {
		out += " --state " + shellWord(c.State)
	}
	if c.URL != "" {
		out += " --url " + shellWord(c.URL)
	}
	return out
}

// decision is an answer. Question is there where it is a deny only for now.
type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Ref      string `json:"ref"`
	Question string `json:"question"`

	Params jsontext.Value `json:"params"` // what to run instead, where a person changed it
}

func decisionOf(answer []byte) (d decision, err error) {
	if err := json.Unmarshal(answer, &d); err != nil || d.Decision != "allow" && d.Decision != "deny" {
		return d, &failure{"the answer holds no decision", "do client and server have the same version?"}
	}
	return d, nil
}

// post returns the answer's body once its signature has been checked.
func (c *SendCmd) post(a *app, t *target, secret config.Secret, id string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(a.ctx, http.MethodPost, t.verifyURL(), bytes.NewReader(body))
	if err != nil {
		return nil, badURL(t.verifyURL())
	}
	addSignature(req, t, secret.Reveal(), body)
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	status, header, answer, err := t.do(req)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusUnauthorized:
		return nil, &failure{"the server does not accept the signature (401)", "is this its secret? It is webhook.secret in its config, or the file webhook.secret in its state directory; it may also demand a header, see --header"}
	case status != http.StatusOK:
		return nil, &failure{fmt.Sprintf("the server answered with HTTP status %d", status), "is " + t.verifyURL() + " the address of a verifier?"}
	case !hmac.MatchAnswer([]byte(secret.Reveal()), id, answer, header.Get(hmac.AnswerHeader)):
		return nil, &failure{"the answer is not signed with this secret, so it could be anyone's", "is " + t.verifyURL() + " the address of your verifier?"}
	}
	return answer, nil
}

// addSignature adds what shows that a call is ours.
func addSignature(req *http.Request, t *target, secret string, body []byte) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(hmac.RequestHeader, "sha256="+hmac.Sign([]byte(secret), body))
	if t.config.Webhook.Bearer.Set() {
		req.Header.Set("Authorization", "Bearer "+t.config.Webhook.Bearer.Reveal())
	}
}

// print says the decision. Anything but a plain allow is a deny or an error.
func (c *SendCmd) print(a *app, answer []byte) error {
	d, err := decisionOf(answer)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		a.printf("%s\n", string(answer))
	case d.Params != nil:
		a.printf("%s with other arguments: %s\n", d.Decision, printable(string(d.Params)))
	case d.Reason == "":
		a.printf("%s\n", d.Decision)
	default:
		a.printf("%s: %s\n", d.Decision, printable(d.Reason))
	}
	if d.Decision != "allow" {
		return exit(exitNo)
	}
	return nil
}

// readReply reads an answer within bounds.
func readReply(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxReply+1))
	if err == nil && len(b) > maxReply {
		err = fmt.Errorf("the answer is larger than %d KB", maxReply>>10)
	}
	return b, err
}

// request is a call as it goes over the wire.
type request struct {
	Version   int            `json:"version"`
	Timestamp string         `json:"timestamp"`
	RequestID string         `json:"requestId"`
	Tool      requestTool    `json:"tool"`
	Context   map[string]any `json:"context,omitempty"`
}

type requestTool struct {
	Name   string         `json:"name"`
	Params jsontext.Value `json:"params"`
}

// body writes the call, and reads it back as the server will: what it would
// refuse is better told here, with a hint.
func (c *SendCmd) body(id string, now time.Time, wait time.Duration) ([]byte, error) {
	context, err := c.context(wait)
	if err != nil {
		return nil, err
	}
	params := jsontext.Value(c.Params)
	if !params.IsValid() || params.Kind() != jsontext.KindBeginObject {
		return nil, &failure{"--params is not a JSON object", `quote it for the shell: --params '{"command":"date"}'`}
	}
	out, err := json.Marshal(request{
		Version: 1, Timestamp: now.UTC().Format(time.RFC3339), RequestID: id,
		Tool: requestTool{Name: c.Tool, Params: params}, Context: context,
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the call: %w", err)
	}
	if _, err := protocol.Decode(out); err != nil {
		return nil, &failure{"the server would refuse this call: " + err.Error(), "see docs/spec/protocol.md"}
	}
	return out, nil
}

// context is --context with what other flags add to it, and how long to wait.
func (c *SendCmd) context(wait time.Duration) (map[string]any, error) {
	raw := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(c.Context), &raw); err != nil || c.Context == "null" {
		return nil, &failure{"--context is not a JSON object", `quote it for the shell: --context '{"senderId":"7","senderIsOwner":true}'`}
	}
	context := make(map[string]any, len(raw)+2)
	for k, v := range raw {
		context[k] = v
	}
	if _, twice := context["sessionKey"]; twice && c.Session != "" {
		return nil, &failure{"--session and --context both give a session key", "keep one"}
	}
	if c.Session != "" {
		context["sessionKey"] = c.Session
	}
	if _, given := context["waitMs"]; !given {
		context["waitMs"] = max(1, wait.Milliseconds()) // 0 would be the server's own choice
	}
	return context, nil
}
