package main

import (
	"net/http"
	"strings"
	"testing"
)

func hello(more string) event {
	return event{name: "hello", about: `{"runtime":"OpenClaw","version":"0.1.0","instance":"i1","failMode":"deny"` + more + `}`}
}

func TestTheRuntimeThatSaidHelloIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	test := func() string {
		t.Helper()
		_, said := r.tried(r.url)
		return said
	}
	page := r.visit()
	page.enter(r.loginLink())
	health := func() string {
		t.Helper()
		_, text := page.load(http.MethodGet, "/page/health", nil)
		return text
	}
	if out := test(); !strings.Contains(out, "none    runtimes   no plugin has said hello") {
		t.Errorf("before:\n%s", out)
	}
	r.takes(hello(`,"scope":"only exec"`))
	const good = "heard 0s ago: version 0.1.0, asks about only exec, failMode deny"
	for what, text := range map[string]string{"test": test(), "health": health()} {
		if !strings.Contains(strings.Replace(text, "heard 1s", "heard 0s", 1), good) {
			t.Errorf("%s:\n%s", what, text)
		}
	}
	r.takes(hello(`,"off":true`))
	for what, text := range map[string]string{"test": test(), "health": health()} {
		if !strings.Contains(text, "is switched off (enabled: false): tool calls run unasked") {
			t.Errorf("%s, with the plugin switched off:\n%s", what, text)
		}
	}
}

func TestH167AHelloTellsNothingButItself(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.allow(fetch(ownerIn("m")))
		e := hello("")
		e.context = with(ownerIn("m"), "trigger", "resume")
		r.takes(e)
		r.mustAsk(sh("date", ownerIn("m")))
		page := r.visit()
		page.enter(r.loginLink())
		r.takes(event{name: "hello", about: `{"runtime":"<script>alert(1)</script>","version":"1 ` + r.token + `"}`})
		_, text := page.load(http.MethodGet, "/page/health", nil)
		if strings.Contains(text, "<script>alert") || strings.Contains(text, r.token) {
			t.Errorf("the page shows\n%s", text)
		}
		r.refuses(event{name: "hello", about: `{"runtime":"OpenClaw","version":"\u202eevil"}`})
		r.refuses(event{name: "hello", about: `{"runtime":"OpenClaw"}`})
		r.refuses(event{name: "hello", about: `{"runtime":"` + strings.Repeat("x", 300) + `","version":"1"}`})
		forged := *r
		forged.secret = strings.Repeat("0", len(r.secret))
		if got := forged.tell(hello("")); got.status != http.StatusUnauthorized {
			t.Errorf("without the secret: %d %s", got.status, got.raw)
		}
	})
}
