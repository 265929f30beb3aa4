package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

const upstreamSecret = "u9-4f1c7be20d5a83e6-shared"

// elsewhere is another verifier that answers as told, and keeps what it was asked.
func elsewhere(t *testing.T, answer func(c toolcall.Call) (body, secret string)) (config.Upstream, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c, err := toolcall.Decode(body)
		if err != nil || hmac.Match(r.Header.Get(hmac.RequestHeader), body, []byte(upstreamSecret)) != 0 {
			t.Errorf("not a signed call: %v", err)
		}
		mu.Lock()
		asked = append(asked, string(body))
		mu.Unlock()
		out, secret := answer(c)
		w.Header().Set(hmac.AnswerHeader, hmac.SignAnswer([]byte(secret), c.RequestID, []byte(out)))
		_, _ = io.WriteString(w, out)
	}))
	t.Cleanup(s.Close)
	return config.Upstream{URL: s.URL + "/verify", Secret: config.NewSecret(upstreamSecret), Timeout: time.Second}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), asked...)
	}
}

func says(decision string) func(toolcall.Call) (string, string) {
	return func(toolcall.Call) (string, string) {
		return `{"decision":"` + decision + `","reason":"x"}`, upstreamSecret
	}
}

func TestEveryFurtherVerifierMustAllow(t *testing.T) {
	t.Parallel()
	yes, asked := elsewhere(t, says("allow"))
	no, _ := elsewhere(t, says("deny"))
	forged, _ := elsewhere(t, func(toolcall.Call) (string, string) { return `{"decision":"allow"}`, "another-secret-7f3e" })
	odd, _ := elsewhere(t, says("ALLOW"))
	gone := config.Upstream{URL: "http://127.0.0.1:1/verify", Secret: config.NewSecret(upstreamSecret), Timeout: time.Second}
	read := call{tool: "read", params: `{"path":"a.txt","apiKey":"sk-planted-4cf1e09b77"}`, context: asking("up", "the password: hunter2hunter2 read it")}
	onBoth(t, func(c *config.Config) { c.Upstream = []config.Upstream{yes, yes} }, func(t *testing.T, r *rig) {
		before := len(asked())
		r.allow(read)
		if got := asked()[before:]; len(got) != 2 || strings.Contains(strings.Join(got, ""), "sk-planted") {
			t.Errorf("asked %d times, or with secrets: %s", len(got), got)
		}
	})
	for what, others := range map[string][]config.Upstream{
		"one denies": {yes, no}, "one forges": {forged, yes}, "one says something else": {odd}, "one is gone": {yes, gone},
	} {
		onBoth(t, func(c *config.Config) { c.Upstream = others }, func(t *testing.T, r *rig) {
			if a := r.deny(read); !strings.Contains(a.Reason, "Another verifier") {
				t.Errorf("%s: %s", what, a.raw)
			}
		})
	}
}

func TestARestrictIsNotPutToOthersAndANoIsNotPutToPeople(t *testing.T) {
	no, asked := elsewhere(t, says("deny"))
	restrict := taint.Restrict
	r := newRig(t, func(c *config.Config) {
		c.Upstream = []config.Upstream{no}
		c.Policy.ToolOverrides = map[string]policy.Override{"exec": {Any: &restrict}}
	})
	r.deny(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("a")})
	if len(asked()) != 0 {
		t.Error("a restrict was put to others")
	}
	r.deny(call{tool: "gateway", params: `{"action":"restart"}`, context: ownerIn("a")})
	if cards := r.pending(); len(asked()) != 1 || len(cards) != 0 {
		t.Errorf("%d asked, %d cards", len(asked()), len(cards))
	}
}

func TestAVerifierThatIsItsOwnUpstreamDenies(t *testing.T) {
	var url string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, _ := http.NewRequestWithContext(r.Context(), r.Method, url+r.URL.Path, r.Body)
		req.Header = r.Header.Clone()
		res, err := client.Do(req)
		if err != nil {
			http.Error(w, "", http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		_, _ = io.Copy(w, res.Body)
	}))
	defer proxy.Close()
	r := newRig(t, func(c *config.Config) {
		c.Webhook.Clients = map[string][]config.Secret{"default": {config.NewSecret(upstreamSecret)}}
		c.Upstream = []config.Upstream{{URL: proxy.URL + "/verify", Secret: config.NewSecret(upstreamSecret), Timeout: 2 * time.Second}}
	})
	r.secret, url = upstreamSecret, r.url
	if a := r.deny(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("loop")}); a.took > 2*time.Second {
		t.Errorf("it took %s", a.took)
	}
	loops := 0
	for _, e := range r.entries() {
		if e.Error == "loop" {
			loops++
		}
	}
	if loops != 1 {
		t.Errorf("the circle was seen %d times", loops)
	}
}
