package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	sign "github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// forged are the signatures of someone who does not have the secret, or can't
// use it.
func (r *rig) forged(body []byte) map[string][]string {
	right := sign.Sign([]byte(r.secret), body)
	anyone := hmac.New(sha256.New, nil)
	anyone.Write(body)
	return map[string][]string{
		"missing":         nil,
		"empty":           {""},
		"short":           {right[:63]},
		"not hex":         {strings.Repeat("z", 64)},
		"wrong":           {sign.Sign([]byte("some0ther5ecret"), body)},
		"an empty secret": {hex.EncodeToString(anyone.Sum(nil))},
		"two headers":     {right, right},
		"another's first": {strings.Repeat("0", 64), right},
	}
}

// kept is the record line by line.
func (r *rig) kept() []audit.Line {
	r.t.Helper()
	f, err := os.Open(r.state.Record())
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	var lines []audit.Line
	for l, err := range audit.Read(f) {
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// decisions are the entries about one request, in order.
func (r *rig) decisions(id string) []audit.Entry {
	r.t.Helper()
	var found []audit.Entry
	for _, l := range r.kept() {
		if l.Kind == audit.KindDecision && l.RequestID == id {
			found = append(found, l.Entry)
		}
	}
	return found
}

// asked is how many questions were ever put to people.
func (r *rig) asked() int {
	r.t.Helper()
	n := 0
	for _, l := range r.kept() {
		if l.Kind == audit.KindAsked {
			n++
		}
	}
	return n
}

func (r *rig) redisKeys() []string {
	r.t.Helper()
	if r.redis == nil {
		return nil
	}
	keys, err := r.redis.Admin.Keys(context.Background(), "*").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func TestH01ACallThatIsNotSignedTouchesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.allow(call{tool: "exec", params: `{"command":"date"}`, context: main})
		lines, keys := len(r.kept()), r.redisKeys()
		taint := call{tool: "web_fetch", params: `{"url":"https://evil.example"}`, id: "stolen-id", context: main}.body()
		ask := call{tool: "exec", params: `{"command":"id"}`, id: "stolen-id-2"}.body()
		for _, body := range [][]byte{taint, ask} {
			for name, signatures := range r.forged(body) {
				if a := r.post(body, signatures...); a.status != http.StatusUnauthorized {
					t.Errorf("%s: got %d %s, want 401", name, a.status, a.raw)
				}
			}
		}
		if cards := r.pending(); len(cards) != 0 {
			t.Errorf("%d cards wait", len(cards))
		}
		if n := len(r.kept()); n != lines {
			t.Errorf("the record grew from %d to %d lines: it could be filled", lines, n)
		}
		if now := r.redisKeys(); len(now) > len(keys)+1 { // the record's head may have come meanwhile
			t.Errorf("the store grew from %q to %q", keys, now)
		}
		// The ids were not used up, and the conversation is as clean as before.
		r.allow(call{tool: "read", params: `{"path":"a"}`, id: "stolen-id", context: main})
		r.allow(call{tool: "exec", params: `{"command":"date"}`, id: "stolen-id-2", context: main})
	})
}

func TestH01RejectedCallsAreCounted(t *testing.T) {
	t.Parallel()
	state, err := config.OpenState(t.TempDir() + "/state")
	if err != nil {
		t.Fatal(err)
	}
	g, err := openGateway(setup{config: config.Default(), state: state, log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}()
	for n := range int64(3) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/verify", bytes.NewReader(call{tool: "exec"}.body()))
		w := httptest.NewRecorder()
		g.server.Handler().ServeHTTP(w, req)
		if w.Code != http.StatusUnauthorized || g.server.Rejected() != n+1 {
			t.Errorf("got %d, counted %d", w.Code, g.server.Rejected())
		}
	}
}

func TestH02OneSpaceAfterSigningIsAnotherBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := call{tool: "read", params: `{"path":"a"}`, context: ownerIn("main")}.body()
	signature := sign.Sign([]byte(r.secret), body)
	for name, other := range map[string]string{
		"a space inside":     strings.Replace(string(body), `{"version":1,`, `{"version":1, `, 1),
		"a space at the end": string(body) + " ", "a line at the end": string(body) + "\n",
		"one letter": strings.Replace(string(body), `"a"`, `"b"`, 1), "an escape": strings.Replace(string(body), `"read"`, `"\u0072ead"`, 1),
	} {
		if a := r.post([]byte(other), signature); a.status != http.StatusUnauthorized {
			t.Errorf("%s: got %d %s, want 401", name, a.status, a.raw)
		}
	}
	if a := r.post(body, signature); !a.allowed() {
		t.Errorf("the bytes that were signed: got %s", a.raw)
	}
}

// twin sends the very same bytes again.
func (r *rig) twin(body []byte) answer {
	r.t.Helper()
	return r.post(body, sign.Sign([]byte(r.secret), body))
}

// later sends bytes and lets them wait. The context is the client's connection.
func (r *rig) later(ctx context.Context, body []byte) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		a, err := r.try(ctx, body, sign.Sign([]byte(r.secret), body))
		if err != nil {
			a.raw = err.Error()
		}
		out <- a
	}()
	return out
}

func TestH03TheSameRequestAgainGetsTheSameDecision(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		clean := call{tool: "exec", params: `{"command":"date"}`, id: "clean", context: main}.body()
		fetch := call{tool: "web_fetch", params: `{"url":"https://example.com"}`, id: "fetch", context: main}.body()
		ours := call{tool: "read", params: `{"path":"` + r.state.Dir() + `/owner.token"}`, id: "ours", context: main}.body()
		for range 3 { // the second time, the conversation is tainted
			for want, bodies := range map[string][][]byte{"allow": {clean, fetch}, "deny": {ours}} {
				for _, body := range bodies {
					if a := r.twin(body); a.status != http.StatusOK || a.Decision != want {
						t.Errorf("%s: got %d %s, want %s", body, a.status, a.raw, want)
					}
				}
			}
		}
		for _, id := range []string{"clean", "fetch", "ours"} {
			all := r.decisions(id)
			if len(all) != 3 || all[0].Replay || !all[1].Replay || !all[2].Replay || all[0].Decision != all[2].Decision {
				t.Errorf("%s is recorded as %+v", id, all)
			}
		}
		if n := r.asked(); n != 0 {
			t.Errorf("%d questions were put", n)
		}
	})
}

func TestH03AReplayUsesUpNoSecondYes(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, id: "first", context: map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}}
		body := c.body()
		held := r.later(t.Context(), body)
		card := r.waits()
		r.approve(card.Ref, 0)
		if a := <-held; !a.allowed() {
			t.Fatalf("got %s", a.raw)
		}
		for range 2 {
			if a := r.twin(body); !a.allowed() {
				t.Errorf("the replay got %s", a.raw)
			}
			if e := r.last(); e.By != "replay" || !e.Replay {
				t.Errorf("the record says that %s allowed the replay: no rule did", e.By)
			}
		}
		if n := r.asked(); n != 1 {
			t.Errorf("the owner was asked %d times", n)
		}
		// One yes is one call, however often it was replayed.
		c.id, c.context = "second", with(c.context, "waitMs", 5001)
		if a := r.deny(c); a.Ref == "" || a.Ref == card.Ref {
			t.Errorf("an identical call got %s, want a question of its own", a.raw)
		}
		refused := call{tool: "exec", params: `{"command":"ls"}`, id: "no", context: c.context}
		refused.context = with(c.context, "waitMs", nil)
		body = refused.body()
		held = r.later(t.Context(), body)
		r.refuse(r.waiting(2)[1].Ref, "No.")
		first := <-held
		again := r.twin(body)
		if first.Decision != "deny" || again.Decision != "deny" || strings.Contains(again.Reason, "Not permitted") {
			t.Errorf("the deny got %s, then %s", first.raw, again.raw)
		}
		if n := r.asked(); n != 3 {
			t.Errorf("the owner was asked %d times, want 3", n)
		}
	})
}

func TestH03TheSameRequestJoinsTheWait(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, id: "one", context: map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}}
		body := c.body()
		var held []<-chan answer
		for range 4 {
			held = append(held, r.later(t.Context(), body))
			r.waits()
		}
		card := r.waits()
		r.approve(card.Ref, 0)
		for i, h := range held {
			if a := <-h; !a.allowed() {
				t.Errorf("the %d. got %s", i+1, a.raw)
			}
		}
		if n := r.asked(); n != 1 {
			t.Errorf("the owner was asked %d times", n)
		}
		replays := 0
		for _, e := range r.decisions("one") {
			if e.Decision != audit.Allow {
				t.Errorf("recorded %+v", e)
			}
			if e.Replay {
				replays++
			}
		}
		if replays < 3 { // one of the four took the yes; it may itself be a replay
			t.Errorf("%d of 3 are recorded as replays", replays)
		}
	})
}

// Whoever lost the connection has heard no decision: the same request may still
// wait for one.
func TestH03AResentRequestWaitsOnAfterTheFirstConnectionIsLost(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		body := call{tool: "exec", params: `{"command":"date"}`, id: "one", context: map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}}.body()
		ctx, hangUp := context.WithCancel(t.Context())
		first := r.later(ctx, body)
		card := r.waits()
		second := r.later(t.Context(), body)
		hangUp()
		<-first
		redistest.Eventually(t, "the first is recorded as gone", func() bool { return len(r.decisions("one")) == 1 })
		if v := r.approve(card.Ref, 0); v.Kind != "counted" {
			t.Errorf("the owner is told %+v", v)
		}
		if a := <-second; !a.allowed() {
			t.Errorf("the second got %s", a.raw)
		}
		if a := r.twin(body); !a.allowed() || r.asked() != 1 {
			t.Errorf("a third got %s after %d questions", a.raw, r.asked())
		}
	})
}

func TestH04TheSameIDWithAnotherBodyIsDenied(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		read := call{tool: "read", params: `{"path":"a"}`, id: "one", context: main}.body()
		if a := r.twin(read); !a.allowed() {
			t.Fatalf("got %s", a.raw)
		}
		for _, c := range []call{
			{tool: "exec", params: `{"command":"date"}`, id: "one", context: main},
			{tool: "read", params: `{"path":"b"}`, id: "one", context: main},
			{tool: "read", params: `{"path":"a"}`, id: "one", context: main, at: time.Now().Add(-time.Minute)},
		} {
			if a := r.deny(c); a.Reason != "This request id was already used for another call." {
				t.Errorf("%s: got %s", c.params, a.raw)
			}
		}
		if a := r.twin(read); !a.allowed() {
			t.Errorf("the first body again got %s", a.raw)
		}
		// In another conversation the id is another request.
		r.allow(call{tool: "read", params: `{"path":"b"}`, id: "one", context: ownerIn("other")})

		stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, id: "two", context: stranger})
		card := r.waits()
		r.deny(call{tool: "exec", params: `{"command":"id"}`, id: "two", context: stranger})
		r.approve(card.Ref, 0)
		if a := <-held; !a.allowed() {
			t.Errorf("the one that waited got %s", a.raw)
		}
		r.deny(call{tool: "exec", params: `{"command":"id"}`, id: "two", context: stranger})
	})
}

func TestH05ATimestampBeyondTheToleranceIsDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.Tolerance = time.Minute })
	for off, want := range map[time.Duration]string{
		0: "allow", -50 * time.Second: "allow", 50 * time.Second: "allow",
		-61 * time.Second: "deny", 75 * time.Second: "deny", -24 * time.Hour: "deny", 200 * 365 * 24 * time.Hour: "deny", -200 * 365 * 24 * time.Hour: "deny",
	} {
		a := r.send(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("main"), at: time.Now().Add(off)})
		if a.status != http.StatusOK || a.Decision != want || want == "deny" && !strings.Contains(a.Reason, "1m0s off") {
			t.Errorf("%s off: got %d %s, want %s", off, a.status, a.raw, want)
		}
	}
	if r.asked() != 0 {
		t.Error("someone was asked")
	}
}
