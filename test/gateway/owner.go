package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// Card is one waiting card as the owner sees it.
type Card struct {
	Ref     string `json:"ref"`
	Tool    string `json:"tool"`
	Session string `json:"session"`
	Text    string `json:"text"`
}

// Code is what the owner would type.
func (c Card) Code(t testing.TB) string {
	t.Helper()
	_, rest, found := strings.Cut(c.Text, ".deny ")
	if !found || len(rest) < 8 {
		t.Fatalf("the card shows no code:\n%s", c.Text)
	}
	return rest[:8]
}

// Pending are the cards that wait.
func (g *Gateway) Pending() []Card {
	g.t.Helper()
	var out struct {
		Cards []Card `json:"cards"`
	}
	status := 0
	for range 10 {
		// A busy machine's store may be too slow: the owner looks again.
		if status = g.Owner(http.MethodGet, "/owner/pending", nil, &out); status != http.StatusServiceUnavailable {
			break
		}
	}
	if status != http.StatusOK {
		g.t.Fatalf("pending: %d", status)
	}
	return out.Cards
}

// Waiting are the cards that wait, as soon as there are n of them.
func (g *Gateway) Waiting(n int) (cards []Card) {
	g.t.Helper()
	redistest.Eventually(g.t, fmt.Sprintf("%d cards wait", n), func() bool {
		cards = g.Pending()
		return len(cards) == n
	})
	return cards
}

// Waits is the one card that waits, as soon as there is one.
func (g *Gateway) Waits() Card {
	g.t.Helper()
	return g.Waiting(1)[0]
}

// Verdict is the reply to an answer.
type Verdict struct {
	Status  int    `json:"-"`
	Kind    string `json:"kind"`
	State   string `json:"state"`
	Text    string `json:"text"`
	Confirm string `json:"confirm"`
}

// Approve says yes to a card, once or for minutes.
func (g *Gateway) Approve(ref string, minutes int) Verdict {
	g.t.Helper()
	return g.AnswerTo(map[string]any{"ref": ref, "allow": true, "minutes": minutes})
}

// Refuse says no to a card.
func (g *Gateway) Refuse(ref, reason string) Verdict {
	g.t.Helper()
	return g.AnswerTo(map[string]any{"ref": ref, "allow": false, "reason": reason})
}

// AnswerTo is an answer of any form.
func (g *Gateway) AnswerTo(in map[string]any) (v Verdict) {
	g.t.Helper()
	v.Status = g.Owner(http.MethodPost, "/owner/answer", in, &v)
	return v
}

// Reply types a line, as in a chat.
func (g *Gateway) Reply(text string) (v Verdict) {
	g.t.Helper()
	v.Status = g.Owner(http.MethodPost, "/owner/reply", map[string]string{"text": text}, &v)
	return v
}

// Owner sends a request with the owner's token.
func (g *Gateway) Owner(method, path string, in, out any) int {
	g.t.Helper()
	return g.As(g.Token, method, path, in, out)
}

// As sends a request with a person's token.
func (g *Gateway) As(token, method, path string, in, out any) int {
	g.t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			g.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, g.URL+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	a := g.Do(req)
	if out != nil && strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(a.Body, out); err != nil {
			g.t.Fatalf("read %q: %v", a.Body, err)
		}
	}
	return a.Status
}

// Consented sends a call that needs a person, and the person says yes.
func (g *Gateway) Consented(c Call, minutes int) Answer {
	g.t.Helper()
	before := map[string]bool{}
	for _, k := range g.Pending() {
		before[k.Ref] = true
	}
	held := g.Hold(c)
	var ref string
	redistest.Eventually(g.t, "a question about "+c.Params+" waits", func() bool {
		for _, k := range g.Pending() {
			if !before[k.Ref] {
				ref = k.Ref
			}
		}
		return ref != ""
	})
	if v := g.Approve(ref, minutes); v.Kind != "counted" {
		g.t.Errorf("the owner's yes is told %+v", v)
	}
	a := <-held
	if !a.Allowed() {
		g.t.Errorf("%s %s after a yes: got %s", c.Tool, c.Params, a.Raw)
	}
	return a
}

// RecordFile is where the record begins.
func (g *Gateway) RecordFile() string { return filepath.Join(g.State.Dir(), "record-000001.jsonl") }

// Recorded is the record as it is in the file.
func (g *Gateway) Recorded() []byte {
	g.t.Helper()
	text, err := os.ReadFile(g.RecordFile())
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// Entries are all lines of the record.
func (g *Gateway) Entries() (out []record.Entry) {
	g.t.Helper()
	files, err := filepath.Glob(filepath.Join(g.State.Dir(), "record-*.jsonl"))
	if err != nil {
		g.t.Fatal(err)
	}
	for raw, err := range record.Since(files, time.Time{}) {
		l, bad := raw.Line()
		if err = errors.Join(err, bad); err != nil {
			g.t.Fatal(err)
		}
		out = append(out, l.Entry)
	}
	return out
}

// Asked is how many questions were ever put to people.
func (g *Gateway) Asked() (n int) {
	g.t.Helper()
	for _, e := range g.Entries() {
		if e.Kind == record.KindAsked {
			n++
		}
	}
	return n
}

// About is what the record says was decided about one request, as soon as it says something: a deny is answered before
// it is recorded.
func (g *Gateway) About(id string) (found []record.Entry) {
	g.t.Helper()
	redistest.Eventually(g.t, "a decision about "+id+" is recorded", func() bool {
		found = nil
		for _, e := range g.Entries() {
			if e.Kind == record.KindDecision && e.RequestID == id {
				found = append(found, e)
			}
		}
		return len(found) > 0
	})
	return found
}

// Decided is what the record says was decided, in its order.
func (g *Gateway) Decided() (out []record.Entry) {
	g.t.Helper()
	for _, e := range g.Entries() {
		if e.Kind == record.KindDecision {
			out = append(out, e)
		}
	}
	return out
}

// Page is what anyone can read at a path, with its status.
func (g *Gateway) Page(path string) (int, string) {
	g.t.Helper()
	return g.Request(http.MethodGet, path, nil)
}

// Request sends bytes with headers, given as names and values in turn. The path is sent as it is spelled.
func (g *Gateway) Request(method, path string, body []byte, headers ...string) (int, string) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, g.URL, bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.URL.Opaque = path
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	a := g.Do(req)
	return a.Status, string(a.Body)
}

// Ready is what /readyz says.
func (g *Gateway) Ready() (int, string) {
	g.t.Helper()
	return g.Page("/readyz")
}
