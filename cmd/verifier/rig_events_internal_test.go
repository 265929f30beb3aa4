package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
)

// event is one thing to tell of the agent's loop.
type event struct {
	name    string
	about   string // JSON; empty means {}
	id      string // request id; empty means a fresh one
	at      time.Time
	context map[string]any
}

func (e event) body() []byte {
	if e.about == "" {
		e.about = "{}"
	}
	if e.id == "" {
		e.id = fmt.Sprintf("event-%d", requests.Add(1))
	}
	if e.at.IsZero() {
		e.at = time.Now()
	}
	ctx, err := json.Marshal(e.context, json.Deterministic(true))
	if err != nil || e.context == nil {
		ctx = []byte("{}")
	}
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"context":%s,"event":%s}`,
		e.at.UTC().Format(time.RFC3339Nano), e.id, ctx, e.about)
}

// told is the answer to an event.
type told struct {
	status       int
	Accepted     bool             `json:"accepted"`
	Reason       string           `json:"reason"`
	Tools        []jsontext.Value `json:"tools"`
	ToolCalls    []jsontext.Value `json:"toolCalls"`
	SystemPrompt string           `json:"systemPrompt"`
	Content      *string          `json:"content"`
	AppendFooter string           `json:"appendFooter"`
	Block        bool             `json:"block"`
	BlockReason  string           `json:"blockReason"`
	raw          string
	signed       bool
}

// tell sends an event, whatever becomes of it.
func (r *rig) tell(e event) told {
	r.t.Helper()
	return r.tellRaw(e.name, e.body())
}

func (r *rig) tellRaw(name string, body []byte) told {
	r.t.Helper()
	return r.signedTo("/hooks/"+name, body)
}

// signedTo posts a signed body and checks whether the answer is signed for it.
func (r *rig) signedTo(path string, body []byte) (t told) {
	r.t.Helper()
	t.raw = string(r.exchange(path, body, &t.status, &t.signed))
	if t.status == http.StatusOK {
		if err := json.Unmarshal([]byte(t.raw), &t); err != nil {
			r.t.Errorf("read %q: %v", t.raw, err)
		}
	}
	return t
}

func (r *rig) exchange(path string, body []byte, status *int, signed *bool) []byte {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set(hmac.RequestHeader, hmac.Sign([]byte(r.secret), body))
	res, err := r.http().Do(req)
	if err != nil {
		r.t.Error(err)
		return nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Error(err)
	}
	var sent struct {
		RequestID string `json:"requestId"`
	}
	_ = json.Unmarshal(body, &sent) // a malformed body is signed over no id
	*status = res.StatusCode
	*signed = hmac.MatchAnswer([]byte(r.secret), sent.RequestID, text, res.Header.Get(hmac.AnswerHeader))
	return text
}

// takes says that an event must be taken in.
func (r *rig) takes(e event) told {
	r.t.Helper()
	t := r.insist(func() told { return r.tell(e) })
	if t.status != http.StatusOK || !t.Accepted || !t.signed {
		r.t.Errorf("%s %s: got %d %s (signed %v), want it accepted", e.name, e.about, t.status, t.raw, t.signed)
	}
	return t
}

// insist tells it again where the store was too slow, as a busy machine's is: a
// runtime does so too.
func (r *rig) insist(tell func() told) (t told) {
	for range 10 {
		if t = tell(); t.Accepted || !strings.Contains(t.Reason, "store can't be reached") {
			return t
		}
	}
	return t
}

// notice tells of a call that is not asked about.
func (r *rig) notice(c call) told {
	r.t.Helper()
	t := r.insist(func() told {
		body := c.body()
		return r.tellRaw("before_tool_call", append(body[:len(body)-1], `,"notice":true}`...))
	})
	if t.status != http.StatusOK || !t.Accepted || !t.signed {
		r.t.Errorf("notice of %s: got %d %s", c.tool, t.status, t.raw)
	}
	return t
}

// returned is what a tool gave back.
func returned(ctx map[string]any, tool, more string) event {
	return event{name: "after_tool_call", about: fmt.Sprintf(`{"toolName":%q%s}`, tool, more), context: ctx}
}

// entries are all lines of the record.
func (r *rig) entries() (out []audit.Entry) {
	r.t.Helper()
	for e, err := range audit.Read(bytes.NewReader(r.recorded())) {
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, e.Entry)
	}
	return out
}

// turn sends a call that needs a person, who says yes for the turn.
func (r *rig) turn(c call) {
	r.t.Helper()
	asked := len(r.pending())
	held := r.hold(c)
	cards := r.waiting(asked + 1)
	if v := r.answerTo(map[string]any{"ref": cards[asked].Ref, "allow": true, "turn": true}); v.Kind != "counted" {
		r.t.Errorf("the owner's yes is told %+v", v)
	}
	if a := <-held; !a.allowed() {
		r.t.Errorf("%s after a yes for the turn: got %s", c.tool, a.raw)
	}
}
