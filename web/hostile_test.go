package web_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// canary is what must never become part of the page's own HTML.
const canary = `"><script>alert(1)</script><img src=x onerror=alert(2)>' hx-get="/x" {{.}} javascript:alert(3)`

func TestH51WhatAnAgentWroteStaysText(t *testing.T) {
	r := newRig(t, nil)
	quoted, err := jsontext.AppendQuote(nil, canary)
	if err != nil {
		t.Fatal(err)
	}
	r.ask(func(a *approval.Ask) {
		a.Tool, a.Sent, a.Agent, a.SessionKey, a.SessionID, a.Run, a.Rule, a.Started = canary, canary, canary, canary, canary, canary, canary, canary
		a.Why, a.Said = []string{canary, canary}, []string{canary, canary}
		a.Shown = jsontext.Value(`{"command":` + string(quoted) + `,` + string(quoted) + `:` + string(quoted) + `,"url":` + string(quoted) + `}`)
	})
	r.ask(func(a *approval.Ask) { a.Shown = jsontext.Value(`{"command":` + string(quoted) + `}`) })
	b := r.owner()
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"the list": b.get("").body, "a stream": firstEvent(t, b)}
	for _, c := range cards {
		pages["card "+c.Ref()] = b.get("cards/" + c.ID).body
	}
	for where, page := range pages {
		if !strings.Contains(page, "alert(1)") {
			t.Errorf("%s does not show it at all", where)
		}
		for _, live := range []string{"<script>alert", "<img src=x", `hx-get="/x"`, `' hx-get`} {
			if strings.Contains(page, live) {
				t.Errorf("%s holds %q", where, live)
			}
		}
	}
	policy := b.get("").header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy %q has no %q, or something unsafe", policy, part)
		}
	}
	if strings.Contains(pages["the list"]+r.browser().get("").body, " style=") || strings.Contains(pages["the list"]+r.browser().get("").body, "<script>") {
		t.Error("the page has inline script or style")
	}
}

// firstEvent is what a stream sends first to a page that shows nothing yet.
func firstEvent(t *testing.T, b *browser) string {
	t.Helper()
	s := b.stream(t, "")
	defer s.close()
	return s.next(t, "rest") + s.next(t, "now")
}

func TestEveryAnswerOfThePageHasItsHeaders(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	for _, path := range []string{"", "login", "cards/none", "nothing", "assets/page.css"} {
		h := b.get(path).header
		for name, want := range map[string]string{
			"Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
}

func TestH52WhatDoesNotComeFromThePageIsRefused(t *testing.T) {
	r := newRig(t, nil)
	ruling := r.ask(nil)
	b := r.owner()
	good := b.form(b.get("").body, "Allow once")
	for what, edit := range map[string]func(*http.Request){
		"a foreign origin":  func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") },
		"another port":      func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") },
		"no origin":         func(q *http.Request) { q.Header.Del("Origin") },
		"a null origin":     func(q *http.Request) { q.Header.Set("Origin", "null") },
		"two origins":       func(q *http.Request) { q.Header.Add("Origin", "https://evil.example") },
		"a cross-site form": func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a same-site form":  func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "same-site") },
		"a foreign host":    func(q *http.Request) { q.Host = "evil.example"; q.Header.Set("Origin", "http://evil.example") },
		"a foreign host, our IP": func(q *http.Request) {
			q.Host = "127.0.0.1.evil.example:80"
			q.Header.Set("Origin", "http://127.0.0.1.evil.example:80")
		},
	} {
		if got := b.do(http.MethodPost, "answer", good, edit); got.status != http.StatusForbidden && got.status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := b.get("answer?" + good.Encode()); got.status == http.StatusOK {
		t.Errorf("a GET answered: %d %s", got.status, got.body)
	}
	if got := b.do(http.MethodGet, "", nil, func(q *http.Request) { q.Host = "evil.example" }); got.status != http.StatusMisdirectedRequest || strings.Contains(got.body, "make deploy") {
		t.Errorf("a foreign host reads: %d", got.status)
	}
	select {
	case got := <-ruling:
		t.Fatalf("one of them was taken: %+v", got)
	default:
	}
	if got := b.do(http.MethodPost, "answer", good, nil); !strings.Contains(got.body, "Approved once by owner") {
		t.Errorf("the page's own form: %s", got.body)
	}
	if got := <-ruling; !got.Yes {
		t.Errorf("the ruling: %+v", got)
	}
}

func TestH29NoCodeReachesThePage(t *testing.T) {
	r := newRig(t, nil)
	r.ask(nil)
	cards, err := r.desk.Pending(context.Background(), "token:owner")
	if err != nil {
		t.Fatal(err)
	}
	code, id := cards[0].Code, cards[0].ID
	b := r.owner()
	for _, page := range []string{b.get("").body, b.get("cards/" + id).body, firstEvent(t, b)} {
		if strings.Contains(page, code) || strings.Contains(page, ".approve") || strings.Contains(page, base64.StdEncoding.EncodeToString([]byte(code))) {
			t.Errorf("the code stands on\n%s", page)
		}
		if strings.Contains(page, token) {
			t.Error("the token stands on the page")
		}
	}
}
