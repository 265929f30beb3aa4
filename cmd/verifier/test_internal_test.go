package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// tried runs `verifier test` against an address, with the rig's secrets.
func (r *rig) tried(url string, args ...string) (code int, said string) {
	r.t.Helper()
	var out bytes.Buffer
	code = run(context.Background(), append([]string{"test", "--state", r.state.Dir(), "--url", url}, args...), &out, &out)
	return code, out.String()
}

// odd is a channel that does as it is told.
type odd struct {
	deaf
	probe  func() (string, error)
	listen error
	sent   chan string
}

func (o *odd) Probe(context.Context) (string, error) { return o.probe() }

func (o *odd) Send(_ context.Context, c *approval.Card) (string, error) {
	o.sent <- c.Notice()
	return "1", nil
}

func (o *odd) Listen(ctx context.Context, answer func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	if o.listen != nil {
		return o.listen
	}
	return o.deaf.Listen(ctx, answer)
}

func TestTheCommandTestTriesEachChannel(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.quit()
	good := &odd{probe: func() (string, error) { return "@bot in chat 7\x1b[31m", nil }, sent: make(chan string, 1)}
	lost := errors.New("the listener was thrown out")
	r.channels = map[string]approval.Channel{
		"good":    good,
		"broken":  &odd{probe: func() (string, error) { return "", errors.New("the bot is not in the chat") }},
		"panics":  &odd{probe: func() (string, error) { panic("hunter2") }},
		"unheard": &odd{probe: func() (string, error) { return "@bot", nil }, listen: lost, sent: make(chan string, 1)},
		"dumb":    deaf{},
	}
	r.start()
	redistest.Eventually(t, "the listener has gone", func() bool { return strings.Contains(r.log.String(), lost.Error()) })
	code, said := r.tried(r.url)
	for _, want := range []string{
		"ok      good       @bot in chat 7\ufffd[31m\n", "FAILED  broken     the bot is not in the chat\n        hint: ", "FAILED  panics     the channel failed",
		"FAILED  unheard    cards arrive, but answers are no longer heard there: the listener was thrown out", "ok      dumb       can't be asked; --send-card",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if code != exitError || len(good.sent) > 0 || strings.Contains(said+r.log.String(), "hunter2") {
		t.Errorf("exit code %d, %d cards sent:\n%s", code, len(good.sent), said)
	}
	_, said = r.tried(r.url, "--send-card")
	if !strings.Contains(said, "a test card was sent") || !strings.Contains(said, "FAILED  dumb       out of order") {
		t.Errorf("with a card:\n%s", said)
	}
	if len(good.sent) != 1 || !strings.Contains(<-good.sent, "nothing to answer") {
		t.Errorf("%d cards were sent, or not the right one", len(good.sent))
	}
}

// It must not touch what is known of real conversations, nor ask anyone.
func TestTheCommandTestLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(call{tool: "exec", params: `{"command":"ls"}`, context: ownerIn("m")})
		r.allow(call{tool: "read", params: `{"path":"x"}`, context: map[string]any{}})
		before := r.levels()
		for range 3 {
			if code, said := r.tried(r.url, "--send-card"); code != exitOK {
				t.Fatalf("exit code %d:\n%s", code, said)
			}
		}
		if cards := r.pending(); len(cards) > 0 {
			t.Errorf("cards wait: %v", cards)
		}
		if after := r.levels(); after != before {
			t.Errorf("levels %v, before %v", after, before)
		}
		r.allow(call{tool: "exec", params: `{"command":"ls -l"}`, context: ownerIn("m")})
	})
}

// levels are how far some conversations are trusted, the one without a key too.
func (r *rig) levels() (out [2]taint.Level) {
	r.t.Helper()
	for i, c := range []session.Conversation{conversation("m"), {Client: config.DefaultClient}} {
		l, err := r.g.store.Worst(context.Background(), c)
		if err != nil {
			r.t.Fatal(err)
		}
		out[i] = l
	}
	return out
}

// Whatever stands in for the server is found out.
func TestTheCommandTestFindsImpostors(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, c := range map[string]struct {
		change func(w http.ResponseWriter, req *http.Request, next http.Handler)
		want   string // an expression: a clock that is set back by an hour may be seen a second later
	}{
		"answers for everyone": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusOK) }, "FAILED  server     what answers at"},
		"takes any signature": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if req.Method == http.MethodPost {
				w.WriteHeader(http.StatusOK)
				return
			}
			next.ServeHTTP(w, req)
		}, "FAILED  refusal    a call with a wrong signature got HTTP status 200"},
		"changes the answer": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, req)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			_, _ = w.Write(bytes.Replace(rec.Body.Bytes(), []byte(`"deny"`), []byte(`"allow"`), 1))
		}, "FAILED  signature  the answer is not signed with this secret"},
		"lives in the past": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, req)
		}, "FAILED  clock      the server's clock is 1h0m[0-9]s behind this machine's"},
		"is a little late, and has no store": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
			if req.URL.Path != "/readyz" {
				next.ServeHTTP(w, req)
				return
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "store: it is gone\nhint: bring it back\nrecord: ok\n")
		}, "ok      clock      the server's is 1m[0-9]s behind this machine's, and may be 5m0s off\nFAILED  ready      store: it is gone\n        hint: bring it back\nok      owner"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { c.change(w, req, r.g.server.Handler()) }))
		code, said := r.tried(s.URL)
		s.Close()
		if code != exitError || !regexp.MustCompile(c.want).MatchString(said) {
			t.Errorf("%s: exit code %d:\n%s", name, code, said)
		}
	}
}

// deaf is a channel that nothing can be sent on.
type deaf struct{}

func (deaf) Send(context.Context, *approval.Card) (string, error) {
	return "", errors.New("out of order")
}

func (deaf) Settle(context.Context, string, *approval.Card, approval.Outcome) error { return nil }

func (deaf) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}
