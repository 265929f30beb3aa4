package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestCallsLikeOneAreAllowedFromThePage(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	v := r.visit()
	v.enter(r.loginLink())
	ctx := unvouched("x")
	mail := func(text string) call {
		return call{tool: "message", params: `{"target":"ann@example.com","message":"` + text + `"}`, context: ctx}
	}
	held := r.hold(mail("hello"))
	r.waits()
	_, page := v.load(http.MethodGet, "/page/", nil)
	_, id, _ := strings.Cut(page, `href="/page/cards/`)
	id, _, _ = strings.Cut(id, `"`)
	_, page = v.load(http.MethodGet, "/page/cards/"+id, nil)
	if !strings.Contains(page, "Allow like this: &#34;message&#34; to &#34;target: ann@example.com&#34;") || strings.Count(page, "Allow like this: ") != 1 {
		t.Fatalf("the card:\n%s", page)
	}
	_, page = v.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "Allow like this")}})
	if a := <-held; !a.allowed() {
		t.Fatalf("the call: %s\n%s", a.raw, page)
	}
	r.allow(mail("how are you"))
	if _, page := v.load(http.MethodGet, "/page/grants", nil); !strings.Contains(page, "<dt>which calls</dt>") || !strings.Contains(page, "ann@example.com") {
		t.Errorf("the grants:\n%s", page)
	}
}
