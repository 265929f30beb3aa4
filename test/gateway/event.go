package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Event is one thing to tell of the agent's loop.
type Event struct {
	Name    string
	About   string // JSON; empty means {}
	ID      string // request id; empty means a fresh one
	At      time.Time
	Context Context
}

// Body is the event as it is signed and sent.
func (e Event) Body() []byte {
	if e.About == "" {
		e.About = "{}"
	}
	if e.ID == "" {
		e.ID = fmt.Sprintf("event-%d", requests.Add(1))
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	ctx, err := json.Marshal(e.Context, json.Deterministic(true))
	if err != nil || e.Context == nil {
		ctx = []byte("{}")
	}
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"context":%s,"event":%s}`,
		e.At.UTC().Format(time.RFC3339Nano), e.ID, ctx, e.About)
}

// Told is the answer to an event.
type Told struct {
	Status       int              `json:"-"`
	Accepted     bool             `json:"accepted"`
	Reason       string           `json:"reason"`
	Tools        []jsontext.Value `json:"tools"`
	ToolCalls    []jsontext.Value `json:"toolCalls"`
	SystemPrompt string           `json:"systemPrompt"`
	Content      *string          `json:"content"`
	AppendFooter string           `json:"appendFooter"`
	Block        bool             `json:"block"`
	BlockReason  string           `json:"blockReason"`
	Raw          string           `json:"-"`
	Signed       bool             `json:"-"`
}

// Tell sends an event, whatever becomes of it; again, where the store was too slow.
func (g *Gateway) Tell(e Event) (t Told) {
	g.t.Helper()
	for range 10 {
		t = g.SignedTo("/hooks/"+e.Name, e.Body())
		if t.Accepted || !strings.Contains(t.Reason, "store can't be reached") {
			return t
		}
	}
	return t
}

// Takes says that an event must be taken in.
func (g *Gateway) Takes(e Event) Told {
	g.t.Helper()
	t := g.Tell(e)
	if t.Status != http.StatusOK || !t.Accepted || !t.Signed {
		g.t.Errorf("%s %s: got %d %s (signed %v), want it accepted", e.Name, e.About, t.Status, t.Raw, t.Signed)
	}
	return t
}

// Refuses says that it must not, and gives the answer.
func (g *Gateway) Refuses(e Event) Told {
	g.t.Helper()
	t := g.Tell(e)
	if t.Status != http.StatusOK || t.Accepted || t.Reason == "" {
		g.t.Errorf("%s %s: got %d %s, want it refused with a reason", e.Name, e.About, t.Status, t.Raw)
	}
	return t
}

// Notice tells of a call that is not asked about.
func (g *Gateway) Notice(c Call) Told {
	g.t.Helper()
	body := c.Body()
	t := g.SignedTo("/hooks/before_tool_call", append(body[:len(body)-1], `,"notice":true}`...))
	if t.Status != http.StatusOK || !t.Accepted || !t.Signed {
		g.t.Errorf("notice of %s: got %d %s", c.Tool, t.Status, t.Raw)
	}
	return t
}

// SignedTo posts a signed body and checks whether the answer is signed for it.
func (g *Gateway) SignedTo(path string, body []byte) (t Told) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.URL+path, bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set(hmac.RequestHeader, g.Sign(body))
	a := g.Do(req)
	var sent struct {
		RequestID string `json:"requestId"`
	}
	_ = json.Unmarshal(body, &sent) // a malformed body is signed over no id
	if a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, &t); err != nil {
			g.t.Errorf("read %q: %v", a.Body, err)
		}
	}
	t.Status, t.Raw = a.Status, string(a.Body)
	t.Signed = hmac.MatchAnswer([]byte(g.Secret), sent.RequestID, a.Body, a.Header.Get(hmac.AnswerHeader))
	return t
}

// Returned is what a tool gave back; more are further members of the event.
func Returned(ctx Context, tool, more string) Event {
	return Event{Name: "after_tool_call", About: fmt.Sprintf(`{"toolName":%q%s}`, tool, more), Context: ctx}
}
