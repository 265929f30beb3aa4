package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
)

func TestASourceIsEndorsedAndDistrustedFromThePage(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		ctx := ownerIn("main")
		r.allow(fetch(ctx))
		talk := "/page/talks/" + session.Conversation{Client: "default", Key: "agent:main:main"}.Hash()
		v := r.visit()
		v.enter(r.loginLink())
		say := func(button string) string {
			t.Helper()
			_, page := v.load(http.MethodGet, talk, nil)
			if !strings.Contains(page, ">"+button+"<") {
				t.Fatalf("there is no %s on\n%s", button, page)
			}
			form := url.Values{}
			for _, name := range []string{"source", "seen", "what"} {
				form.Set(name, field(page, name, button))
			}
			_, page = v.load(http.MethodPost, talk, form)
			return page
		}
		if page := say("Endorse"); !strings.Contains(page, "endorsed, so it does not count") {
			t.Errorf("endorsing:\n%s", page)
		}
		r.allow(sh("date", ctx))
		if page := say("Distrust"); strings.Contains(page, "endorsed, so it does not count") {
			t.Errorf("distrusting:\n%s", page)
		}
		r.mustAsk(sh("date", ctx))
		looker := r.visit()
		looker.enter(r.loginLink("--viewer"))
		_, page := looker.load(http.MethodGet, talk, nil)
		if strings.Contains(page, ">Endorse<") || !strings.Contains(page, "What lowers the trust") {
			t.Errorf("a viewer sees\n%s", page)
		}
		form := url.Values{"what": {"endorse"}, "source": {"1"}, "seen": {"2026-01-01T00:00:00Z"}}
		if status, _ := looker.load(http.MethodPost, talk, form); status != http.StatusForbidden {
			t.Errorf("a viewer endorses: %d", status)
		}
		form.Del("seen")
		if status, _ := v.load(http.MethodPost, talk, form); status != http.StatusUnprocessableEntity {
			t.Errorf("without what was seen: %d", status)
		}
	})
}

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
