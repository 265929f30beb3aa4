package main

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/web/webtest"
)

// TestAlwaysOnThePhone: the owner opens a card, taps Always, reads what it would cover, says where and until when, and ends it again.
func TestAlwaysOnThePhone(t *testing.T) {
	t.Parallel()
	s := &surf{rig: newRig(t, func(c *config.Config) { noteTool(c); unhurried(c) }), browser: webtest.Start(t)}
	untilReady(t, s.rig)
	tab := s.login(webtest.Phone)
	m := s.fetchedIn("first")
	held := s.asks(note("shopping", "bread and butter", m))
	s.open(tab, "cards/"+s.cardID(s.waits().Ref))
	tab.Click(`form[action="/page/always"] button`)
	tab.Text("Always allow this?")
	tab.Text("notebook: shopping")
	s.check(tab, "what Always would cover")
	shot(tab, "always")
	tab.Eval(`(() => { document.querySelector('select[name="where"]').value = "agent"; return 1 })()`, nil)
	tab.Click(`form.always button[value="7"]`)
	tab.Text("without a question until")
	tab.Text("every conversation of the agent")
	s.check(tab, "a standing consent among the grants")
	shot(tab, "always-grants")
	if a := <-held; !a.allowed() {
		t.Errorf("the call itself: %s", a.raw)
	}
	s.allow(note("shopping", "eggs", s.fetchedIn("second")))
	tab.Click(`form[action="/page/grants"] button[aria-label^="Revoke notes_add"]`)
	tab.Text("was ended by owner")
	s.mustAsk(note("shopping", "salt", m))

	held = s.asks(sh("id -un", s.fetchedIn("third")))
	for _, c := range s.pending() {
		if slices.Contains(c.Tools, "exec") {
			s.open(tab, "cards/"+s.cardID(c.Ref))
		}
	}
	tab.Click(`form[action="/page/always"] button`)
	tab.Text("exactly this one, with no other argument")
	tab.Text("id -un")
	s.check(tab, "Always for a command")
	shot(tab, "always-command")
	tab.Click("p.more a")
	tab.Click("button.deny")
	<-held
}
