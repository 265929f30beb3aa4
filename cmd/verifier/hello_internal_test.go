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
	if out := test(); !strings.Contains(out, "none    runtimes   no plugin has said hello") {
		t.Errorf("before:\n%s", out)
	}
	r.takes(hello(`,"scope":"only exec"`))
	const good = "heard 0s ago: version 0.1.0, asks about only exec, failMode deny"
	if out := test(); !strings.Contains(strings.Replace(out, "heard 1s", "heard 0s", 1), good) {
		t.Error(out)
	}
	r.takes(hello(`,"off":true`))
	if out := test(); !strings.Contains(out, "is switched off (enabled: false): tool calls run unasked") {
		t.Errorf("with the plugin switched off:\n%s", out)
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
		r.takes(event{name: "hello", about: `{"runtime":"OpenClaw","version":"1 ` + r.token + `"}`})
		if _, out := r.tried(r.url); !strings.Contains(out, "version 1 ") || strings.Contains(out, r.token) {
			t.Errorf("verifier test shows\n%s", out)
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
