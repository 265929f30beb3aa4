package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// shown is one waiting card as the owner sees it.
type shown struct {
	Ref     string   `json:"ref"`
	Tools   []string `json:"tools"`
	Session string   `json:"session"`
	Text    string   `json:"text"`
}

// code is what the owner would type.
func (s shown) code(t testing.TB) string {
	t.Helper()
	_, rest, found := strings.Cut(s.Text, ".deny ")
	if !found || len(rest) < 8 {
		t.Fatalf("the card shows no code:\n%s", s.Text)
	}
	return rest[:8]
}

func (r *rig) pending() []shown {
	r.t.Helper()
	var out struct {
		Cards []shown `json:"cards"`
	}
	status := 0
	for range 10 {
		// A busy machine's store may be too slow: whoever looks looks again.
		if status = r.owner(http.MethodGet, "/owner/pending", nil, &out); status != http.StatusServiceUnavailable {
			break
		}
	}
	if status != http.StatusOK {
		r.t.Fatalf("pending: %d", status)
	}
	return out.Cards
}

// waits is the one card that waits, as soon as there is one.
func (r *rig) waits() shown {
	r.t.Helper()
	return r.waiting(1)[0]
}

func (r *rig) waiting(n int) (cards []shown) {
	r.t.Helper()
	redistest.Eventually(r.t, fmt.Sprintf("%d cards wait", n), func() bool {
		cards = r.pending()
		return len(cards) == n
	})
	return cards
}

// verdict is what the owner is told.
type verdict struct {
	status int
	Kind   string `json:"kind"`
	State  string `json:"state"`
	Text   string `json:"text"`
}

func (r *rig) approve(ref string, minutes int) verdict {
	r.t.Helper()
	return r.answerTo(map[string]any{"ref": ref, "allow": true, "minutes": minutes})
}

func (r *rig) refuse(ref, reason string) verdict {
	r.t.Helper()
	return r.answerTo(map[string]any{"ref": ref, "allow": false, "reason": reason})
}

func (r *rig) answerTo(in map[string]any) (v verdict) {
	r.t.Helper()
	v.status = r.owner(http.MethodPost, "/owner/answer", in, &v)
	return v
}

func (r *rig) reply(text string) (v verdict) {
	r.t.Helper()
	v.status = r.owner(http.MethodPost, "/owner/reply", map[string]string{"text": text}, &v)
	return v
}

func (r *rig) owner(method, path string, in, out any) int {
	r.t.Helper()
	return r.as(r.token, method, path, in, out)
}

// as sends a request with somebody's token.
func (r *rig) as(token, method, path string, in, out any) int {
	r.t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			r.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	a := exchange(r.t, r.http(), req)
	if out != nil && strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(a.body, out); err != nil {
			r.t.Fatalf("read %q: %v", a.body, err)
		}
	}
	return a.status
}

// holders is how many requests stand on a card, by what its store says.
func (r *rig) holders(ref string) int {
	r.t.Helper()
	cards, err := r.desk.Pending(context.Background(), config.TokenID(config.Owner))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range cards {
		if c.Ref() == ref {
			return len(c.Questions[0].Holders)
		}
	}
	return 0
}

// editTwice is the owner's answer with other arguments, confirmed.
func (r *rig) editTwice(ref, params string) verdict {
	r.t.Helper()
	in := map[string]any{"ref": ref, "allow": true, "with": params}
	if v := r.answerTo(in); v.Kind != "wants the same again" {
		r.t.Fatalf("the change to %s is told %+v", params, v)
	}
	return r.answerTo(in)
}

// reload puts an edited copy of the rig's config in force.
func (r *rig) reload(edit func(*config.Config)) {
	r.t.Helper()
	next := *r.cfg
	edit(&next)
	if err := r.g.reload(&next, policy.Guard{}); err != nil {
		r.t.Fatal(err)
	}
}

// relaying takes what Ann types on Telegram into the chats of the client default.
func relaying(c *config.Config) {
	c.Approvers = []config.Approver{{Name: "Ann", Users: map[string]config.UserID{"telegram": "111"}, IDs: []string{"token:owner"}}}
	c.Webhook.RelayApprovals = map[string][]string{config.DefaultClient: {"telegram"}}
}

// relay passes on a line of Ann's as a runtime does.
func (r *rig) relay(text string) (v verdict) {
	r.t.Helper()
	const line = `{"version":1,"timestamp":%q,"requestId":%q,"text":%q,` +
		`"context":{"messageProvider":"telegram","senderId":"111","channelId":"111","sessionKey":"agent:main:m"}}`
	at := time.Now().UTC()
	body := fmt.Appendf(nil, line, at.Format(time.RFC3339Nano), fmt.Sprint("line-", at.UnixNano()), text)
	var signed bool
	if err := json.Unmarshal(r.exchange("/approve", body, &v.status, &signed), &v); err != nil || !signed {
		r.t.Errorf("a relayed line: %v (signed %v)", err, signed)
	}
	return v
}
