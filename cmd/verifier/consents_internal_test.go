package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

// noteTool is a tool that writes into a notebook, as an owner would label it.
func noteTool(c *config.Config) {
	yes, no := true, false
	c.Policy.Tools = map[string]policy.Tool{"notes_add": {Sink: &yes, Leaves: &no, Destinations: []string{"notebook"}, Content: []string{"text"}}}
}

func note(notebook, text string, context map[string]any) call {
	return call{tool: "notes_add", params: fmt.Sprintf(`{"notebook":%q,"text":%q}`, notebook, text), context: context}
}

// fetchedIn is a conversation of the owner that has fetched something.
func (r *rig) fetchedIn(name string) map[string]any {
	r.t.Helper()
	m := ownerIn(name)
	r.allow(fetch(m))
	return m
}

// alwaysYes answers questions about one destination with yes, as often as the page needs to see.
func (r *rig) alwaysYes(notebook string, m map[string]any) {
	r.t.Helper()
	for i := range 3 {
		held := r.hold(note(notebook, fmt.Sprint("text ", i), m))
		r.approve(r.waits().Ref, 0)
		if a := <-held; !a.allowed() {
			r.t.Fatalf("after a yes: %s", a.raw)
		}
	}
}

// accepts gives the standing consent that the page offers first.
func (v *visit) accepts() (offer url.Values, page string) {
	v.t.Helper()
	_, page = v.load(http.MethodGet, "/page/grants", nil)
	if !strings.Contains(page, "You always answered yes") {
		v.t.Fatalf("the page offers nothing:\n%s", page)
	}
	return url.Values{"consent": {field(page, "consent", "7 days")}, "level": {field(page, "level", "7 days")}, "days": {"7"}}, page
}

// TestH384AStandingConsentIsNotWidened: the owner has accepted a standing consent for one notebook; the agent tries to get more out of it.
func TestH384AStandingConsentIsNotWidened(t *testing.T) {
	t.Parallel()
	onBoth(t, noteTool, func(t *testing.T, r *rig) {
		untilReady(t, r)
		m := r.fetchedIn("first")
		r.alwaysYes("shopping", m)
		v := r.visit()
		v.enter(r.loginLink())
		offer, _ := v.accepts()
		if status, page := v.load(http.MethodPost, "/page/consents", offer); status != http.StatusOK || !strings.Contains(page, "without a question until") {
			t.Fatalf("%d\n%s", status, page)
		}
		other := r.fetchedIn("second")
		r.allow(note("shopping", "milk", other)) // in another conversation of the agent
		if e := r.last(); e.By != "standing-consent" || len(e.People) != 1 || !strings.Contains(e.People[0].Says, "standing consent until") {
			t.Errorf("the record says %+v", e)
		}
		if g := r.reply(".grants"); !strings.Contains(g.Text, `every conversation of "main"`) || !strings.Contains(g.Text, "notebook: shopping") {
			t.Errorf("the list says %q", g.Text)
		}
		for what, c := range map[string]call{
			"another destination": note("work", "x", other), "another spelling": note("Shopping", "x", other), "a space": note("shopping ", "x", other),
			"one argument more": {tool: "notes_add", params: `{"notebook":"shopping","text":"x","share":"all"}`, context: other},
			"two destinations":  {tool: "notes_add", params: `{"notebook":["shopping","work"],"text":"x"}`, context: other},
			"another tool":      {tool: "notes_del", params: `{"notebook":"shopping","text":"x"}`, context: other},
			"a look-alike":      {tool: "n\u043etes_add", params: `{"notebook":"shopping","text":"x"}`, context: other},
			"a secret":          note("shopping", "password=hunter2hunter2", other),
			"another agent":     note("shopping", "x", with(unvouched("y"), "agentId", "ops", "sessionKey", "agent:ops:main")),
		} {
			if a := r.send(impatient(c)); a.allowed() {
				t.Errorf("%s: %s", what, a.raw)
			}
		}
		secret := r.fetchedIn("third")
		r.allow(call{tool: "read", params: `{"path":"~/.ssh/id_rsa"}`, context: secret})
		r.deny(impatient(note("shopping", "x", secret))) // it could carry them out

		ref := strings.Fields(r.reply(".grants").Text)[0]
		if v := r.reply(".revoke " + ref); v.Kind != "told" || !strings.Contains(v.Text, "was ended") {
			t.Errorf("the revocation is told %+v", v)
		}
		r.mustAsk(note("shopping", "after", r.fetchedIn("fourth")))
		r.soundRecord()
	})
}

// TestH385AStalePageGivesNothing: the page offers a standing consent; then the owner denies such a call, and an old tab accepts.
func TestH385AStalePageGivesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, noteTool, func(t *testing.T, r *rig) {
		untilReady(t, r)
		m := r.fetchedIn("first")
		r.alwaysYes("shopping", m)
		v := r.visit()
		v.enter(r.loginLink())
		offer, _ := v.accepts()
		for what, change := range map[string]string{"consent": "00000000000000000000000000000000:x", "level": "system", "days": "9999"} {
			forged := url.Values{"consent": offer["consent"], "level": offer["level"], "days": offer["days"]}
			forged.Set(what, change)
			if _, page := v.load(http.MethodPost, "/page/consents", forged); strings.Contains(page, "without a question until") {
				t.Errorf("%s: the page took it", what)
			}
		}
		held := r.hold(note("shopping", "evil", m))
		r.refuse(r.waits().Ref, "")
		<-held
		if _, page := v.load(http.MethodPost, "/page/consents", offer); !strings.Contains(page, "Nothing was changed") || strings.Contains(page, "You always answered yes") {
			t.Errorf("the stale page was taken:\n%s", page)
		}
		r.mustAsk(note("shopping", "next", r.fetchedIn("second")))
	})
}

// TestH386ADeniedCallInAnotherSpellingSpeaksAgainstTheConsent: the agent spells a denied destination a little differently.
func TestH386ADeniedCallInAnotherSpellingSpeaksAgainstTheConsent(t *testing.T) {
	t.Parallel()
	r := newRig(t, noteTool)
	untilReady(t, r)
	m := r.fetchedIn("first")
	v := r.visit()
	v.enter(r.loginLink())
	for i, spelled := range []string{"Shopping%d", " shopping%d", "ｓhopping%d", "shop ping%d", "SHOPPING%d"} {
		plain := fmt.Sprint("shopping", i)
		r.alwaysYes(plain, m)
		held := r.hold(note(fmt.Sprintf(spelled, i), "x", m))
		r.refuse(r.waits().Ref, "")
		<-held
		if _, page := v.load(http.MethodGet, "/page/grants", nil); strings.Contains(page, "You always answered yes") {
			t.Errorf("%q was denied, and the page offers %s", spelled, plain)
		}
	}
}
