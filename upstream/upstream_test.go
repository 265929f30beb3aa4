package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/upstream"
)

const secret = "u9-4f1c7be20d5a83e6-shared"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answerer is a further verifier over HTTP.
func answerer(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, c *toolcall.Call)) upstream.One {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c, err := toolcall.Decode(body)
		if err != nil || hmac.Match(r.Header.Get(hmac.RequestHeader), body, []byte(secret)) != 0 {
			t.Errorf("not a signed call: %v\n%s", err, body)
		}
		w.Header().Set("Connection", "close")
		answer(w, r, &c)
	}))
	t.Cleanup(s.Close)
	return upstream.One{URL: s.URL, Secret: secret}
}

func signed(body, with string) func(http.ResponseWriter, *http.Request, *toolcall.Call) {
	return func(w http.ResponseWriter, _ *http.Request, c *toolcall.Call) {
		w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(with), c.RequestID, []byte(body)))
		_, _ = io.WriteString(w, body)
	}
}

func someCall() *toolcall.Call {
	return &toolcall.Call{
		Sent: "Bash", Tool: "exec", Via: []string{"first"},
		Context: toolcall.Context{SessionKey: "agent:main:main", SenderID: "1", SenderIsOwner: true, WaitMs: 90_000, UserMessages: []toolcall.UserMessage{{Text: "as it was said", SenderID: "9"}}},
	}
}

func ask(t *testing.T, ones ...upstream.One) error {
	t.Helper()
	return upstream.New("self", ones).Ask(t.Context(), someCall(), jsontext.Value(`{"command":"[REDACTED]"}`), []string{"as it may be shown"})
}

func TestAVerifierForSomeAgentsIsAskedAboutTheirCallsOnly(t *testing.T) {
	denied := answerer(t, signed(`{"decision":"deny"}`, secret))
	denied.Agents = []string{"Ops"}
	for agent, refused := range map[string]bool{"ops": true, "OPS": true, "": true, "main": false} {
		c := someCall()
		c.Context.AgentID, c.Context.SessionKey = agent, "k"
		if err := upstream.New("self", []upstream.One{denied}).Ask(t.Context(), c, jsontext.Value(`{}`), nil); refused != errors.Is(err, upstream.ErrDenied) {
			t.Errorf("%q: %v", agent, err)
		}
	}
}

func TestOnlyAnAllowOfAllThatIsSignedByWhomWeAskedCounts(t *testing.T) {
	yes := answerer(t, signed(`{"decision":"allow"}`, secret))
	if err := ask(t, yes, yes); err != nil {
		t.Fatal(err)
	}
	denied := answerer(t, signed(`{"decision":"deny"}`, secret))
	if err := ask(t, yes, denied); !errors.Is(err, upstream.ErrDenied) {
		t.Errorf("a deny: %v", err)
	}
	for what, answer := range map[string]func(http.ResponseWriter, *http.Request, *toolcall.Call){
		"another secret":  signed(`{"decision":"allow"}`, "another-secret-7f3e"),
		"no word we know": signed(`{"decision":"Allow"}`, secret),
		"no decision":     signed(`{}`, secret),
		"other params":    signed(`{"decision":"allow","params":{}}`, secret),
		"two decisions":   signed(`{"decision":"deny","decision":"allow"}`, secret),
		"no JSON":         signed(`allow`, secret),
		"words behind it": signed(`{"decision":"allow"} {}`, secret),
		"too much":        signed(`{"decision":"allow","reason":"`+strings.Repeat("x", 70<<10)+`"}`, secret),
		"not signed": func(w http.ResponseWriter, _ *http.Request, _ *toolcall.Call) {
			_, _ = io.WriteString(w, `{"decision":"allow"}`)
		},
		"an answer to others": func(w http.ResponseWriter, _ *http.Request, _ *toolcall.Call) {
			w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), "other", []byte(`{"decision":"allow"}`)))
			_, _ = io.WriteString(w, `{"decision":"allow"}`)
		},
		"signed twice": func(w http.ResponseWriter, r *http.Request, c *toolcall.Call) {
			w.Header().Add(hmac.AnswerHeader, "0")
			w.Header().Add(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), c.RequestID, []byte(`{"decision":"allow"}`)))
			_, _ = io.WriteString(w, `{"decision":"allow"}`)
		},
		"an error's page": func(w http.ResponseWriter, _ *http.Request, c *toolcall.Call) {
			w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), c.RequestID, []byte(`{"decision":"allow"}`)))
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"decision":"allow"}`)
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request, _ *toolcall.Call) {
			http.Redirect(w, r, yes.URL, http.StatusTemporaryRedirect)
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request, c *toolcall.Call) {
			w.Header().Set("Content-Length", "400")
			signed(`{"decision":"allow"}`, secret)(w, nil, c)
		},
	} {
		if err := ask(t, answerer(t, answer), yes); err == nil {
			t.Errorf("%s: allowed", what)
		}
	}
	if err := ask(t, upstream.One{URL: "http://127.0.0.1:1/", Secret: secret}); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("one that is gone: %v", err)
	}
}

// A server of the published protocol signs no answers. The owner may say so.
func TestH142AnAnswerWithoutASignatureCountsOnlyWhereTheOwnerSaysSo(t *testing.T) {
	unsigned := func(body string, status int) func(http.ResponseWriter, *http.Request, *toolcall.Call) {
		return func(w http.ResponseWriter, _ *http.Request, _ *toolcall.Call) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	plain := func(o upstream.One) upstream.One { o.Plain = true; return o }
	yes := answerer(t, unsigned(`{"decision":"allow","reason":"fine"}`, http.StatusOK))
	if err := ask(t, yes); err == nil {
		t.Error("an unsigned allow counts, and the owner has not said so")
	}
	if err := ask(t, plain(yes)); err != nil {
		t.Error(err)
	}
	for what, one := range map[string]upstream.One{
		"a deny":            answerer(t, unsigned(`{"decision":"deny"}`, http.StatusOK)),
		"no decision":       answerer(t, unsigned(`{}`, http.StatusOK)),
		"two decisions":     answerer(t, unsigned(`{"decision":"deny","decision":"allow"}`, http.StatusOK)),
		"an error's page":   answerer(t, unsigned(`{"decision":"allow"}`, http.StatusBadGateway)),
		"a wrong signature": answerer(t, signed(`{"decision":"allow"}`, "another-secret-7f3e")),
		"another's redirect": answerer(t, func(w http.ResponseWriter, r *http.Request, _ *toolcall.Call) {
			http.Redirect(w, r, yes.URL, http.StatusTemporaryRedirect)
		}),
	} {
		if err := ask(t, plain(one)); err == nil {
			t.Errorf("%s: allowed", what)
		}
	}
}

func TestWhatAFurtherVerifierIsTold(t *testing.T) {
	var mu sync.Mutex
	var got toolcall.Call
	var header http.Header
	one := answerer(t, func(w http.ResponseWriter, r *http.Request, c *toolcall.Call) {
		mu.Lock()
		got, header = *c, r.Header
		mu.Unlock()
		signed(`{"decision":"allow"}`, secret)(w, r, c)
	})
	one.Timeout, one.Headers = 3*time.Second, map[string]string{"Authorization": "Bearer x", hmac.RequestHeader: "forged", upstream.ViaHeader: "nobody"}
	if err := ask(t, one); err != nil {
		t.Fatal(err)
	}
	if got.Tool != "exec" || string(got.Params) != `{"command":"[REDACTED]"}` || got.Context.SessionKey != "agent:main:main" {
		t.Errorf("%+v", got)
	}
	if said := got.OwnerMessages(); !slices.Equal(said, []string{"as it may be shown"}) || len(got.Context.UserMessages) != 1 {
		t.Errorf("it was told %+v", got.Context.UserMessages)
	}
	if got.Context.WaitMs > 3000 || got.Context.WaitMs < 1 {
		t.Errorf("we wait %d ms, it was told", got.Context.WaitMs)
	}
	if header.Get("Authorization") != "Bearer x" || header.Get(upstream.ViaHeader) != "first, self" {
		t.Errorf("headers %v", header)
	}
}

func TestNobodyIsWaitedForLongerThanTheCallerWaits(t *testing.T) {
	over := make(chan struct{})
	slow := answerer(t, func(http.ResponseWriter, *http.Request, *toolcall.Call) { <-over })
	defer close(over)
	slow.Timeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := upstream.New("self", []upstream.One{slow}).Ask(ctx, someCall(), jsontext.Value(`{}`), nil); err == nil {
		t.Error("allowed")
	}
}

func TestACircleEnds(t *testing.T) {
	long := strings.Repeat("a,", upstream.MaxVia) + "a"
	for header, want := range map[string]bool{
		"": false, "a": true, "a, b": true, "self": false, "a,self": false, " self ": false, "a,,b": false,
		long: false, strings.Repeat("x", 65): false, long[:2*upstream.MaxVia-1]: true,
	} {
		if _, ok := upstream.ParseVia([]string{header}, "self"); ok != want {
			t.Errorf("%q: %t", header, ok)
		}
	}
	if via, ok := upstream.ParseVia(nil, "self"); !ok || via != nil {
		t.Error("a call that comes from nowhere else is refused")
	}
	if _, ok := upstream.ParseVia([]string{"a", "self"}, "self"); ok {
		t.Error("a second header hides the circle")
	}
}

func FuzzParseVia(f *testing.F) {
	f.Add("", "self")
	f.Add("a, b,c", "self")
	f.Add("a,self", "\x00,\xff")
	f.Fuzz(func(t *testing.T, one, two string) {
		via, ok := upstream.ParseVia([]string{one, two}, "self")
		if !ok {
			if via != nil {
				t.Errorf("refused, and yet %q", via)
			}
			return
		}
		if len(via) > upstream.MaxVia || slices.Contains(via, "self") || slices.Contains(via, "") {
			t.Errorf("%q", via)
		}
		// What is passed on is read again as it was, with whoever passes it on.
		again, ok := upstream.ParseVia([]string{strings.Join(append(via, strconv.Itoa(7)), ", ")}, "self")
		if len(via) < upstream.MaxVia && (!ok || !slices.Equal(again[:len(via)], via)) {
			t.Errorf("%q became %q", via, again)
		}
	})
}
