package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
)

func TestAGrantIsListedAndRevoked(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(sh("git log", unvouched("x")))
		if v := r.approve(r.waits().Ref, 30); v.Kind != "counted" {
			t.Fatalf("told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Fatalf("the call: %s", a.raw)
		}
		r.allow(sh("git log -3", unvouched("x")))
		list := r.reply(".grants")
		if list.Kind != "told" || !strings.Contains(list.Text, `"exec" only "git log"`) || !strings.Contains(list.Text, "by owner") {
			t.Fatalf("listed: %+v", list)
		}
		ref, _, _ := strings.Cut(list.Text, " ")
		code, out := atShell(t, "grants", "--json", "--url", r.url, "--state", r.state.Dir())
		for _, want := range []string{`{"grants":[{"ref":"` + ref + `","tool":"exec","only":"only \"git log\"`, `"run":false,"by":"owner"}],"more":false}`} {
			if code != exitOK || !strings.Contains(out, want) {
				t.Errorf("grants --json prints no %s (%d): %s", want, code, out)
			}
		}
		_, rest, _ := strings.Cut(out, `"session":"`)
		if code, out := atShell(t, "sources", rest[:8], "--json", "--url", r.url, "--state", r.state.Dir()); code != exitOK || !strings.Contains(out, `"level":"`) || !strings.Contains(out, `"sources":[{"label":`) {
			t.Errorf("sources --json (%d): %s", code, out)
		}
		if v := r.reply(".revoke " + ref); v.Kind != "told" {
			t.Fatalf("told %+v", v)
		}
		asked := r.hold(sh("git log --oneline", unvouched("x")))
		r.refuse(r.waits().Ref, "")
		if a := <-asked; a.allowed() {
			t.Errorf("after the grant was revoked: %s", a.raw)
		}
		if v := r.reply(".grants"); !strings.Contains(v.Text, "Nothing is granted") {
			t.Errorf("listed: %+v", v)
		}
		var revoked []audit.Entry
		for _, e := range r.entries() {
			if e.Kind == audit.KindRevoke {
				revoked = append(revoked, e)
			}
		}
		if len(revoked) != 1 || revoked[0].Tool != "exec" || revoked[0].People[0].Name != "owner" {
			t.Errorf("the record has %+v", revoked)
		}
	})
}
