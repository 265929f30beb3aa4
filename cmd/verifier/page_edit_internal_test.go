package main

import (
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/web/webtest"
)

// TestChangeTheArgumentsOnThePage: on a phone, the owner opens a card, changes what the agent wrote, is told of a mistake, reads what changes, and allows it.
func TestChangeTheArgumentsOnThePage(t *testing.T) {
	t.Parallel()
	s := &surf{rig: newRig(t, unhurried), browser: webtest.Start(t)}
	untilReady(t, s.rig)
	tab := s.login(webtest.Phone)
	held := s.asks(call{tool: "exec", params: `{"command":"git push --force origin main","timeout":60,"apiKey":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`, context: editable("m")})
	s.open(tab, "cards/"+s.cardID(s.waits().Ref))
	tab.Click(`form[action="/page/edit"] button`)
	tab.Text("Change the arguments of exec")
	s.check(tab, "the editor")
	shot(tab, "edit")
	write := func(text string) {
		tab.Eval(`(() => { const a = document.querySelector("#params"); a.value = `+text+`; return 1 })()`, nil)
		tab.Click("form.edit button")
	}
	write(`a.value.replace("--force", "--force").replace("[REDACTED: ", "[RED")`)
	tab.Text("A hidden value can be left as it is")
	s.check(tab, "a change that was refused")
	write(`a.value.replace("[RED", "[REDACTED: ").replace(" --force", " --dry-run").replace('"timeout": 60', '"timeout": 30')`)
	tab.Text("This runs instead")
	tab.Text("--dry-run")
	s.check(tab, "what changes")
	shot(tab, "edited")
	tab.Click("button.allow")
	a := <-held
	if want := `"params":{"command":"git push --dry-run origin main","timeout":30,"apiKey":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`; !a.allowed() || !strings.Contains(a.raw, want) {
		t.Errorf("the caller reads %s", a.raw)
	}
	tab.Text("Nothing waits")

	held = s.hold(sh("make deploy", unvouched("n"))) // a runtime that can't
	s.open(tab, "cards/"+s.cardID(s.waits().Ref))
	tab.Text("make deploy")
	tab.Wait("there is nothing to change it with", `!document.querySelector('form[action="/page/edit"]')`)
	tab.Click("button.deny")
	<-held
}

// shot takes a picture where someone wants to look at it.
func shot(tab *webtest.Tab, name string) {
	if dir := os.Getenv("VERIFIER_SHOTS"); dir != "" {
		tab.Shot(dir+"/"+name+".png", true)
	}
}

// cardID is the id of an open card.
func (r *rig) cardID(ref string) string {
	r.t.Helper()
	cards, _, err := r.desk.Waiting(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range cards {
		if c.Ref() == ref {
			return c.ID
		}
	}
	r.t.Fatalf("no card has the reference %s", ref)
	return ""
}
