package main

import (
	"fmt"
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

// TestH384AStandingConsentIsNotWidened: the owner has given a standing consent for one notebook; the agent tries to get more out of it.
func TestH384AStandingConsentIsNotWidened(t *testing.T) {
	t.Parallel()
	onBoth(t, noteTool, func(t *testing.T, r *rig) {
		untilReady(t, r)
		m := r.fetchedIn("first")
		v := r.visit()
		v.enter(r.loginLink())
		v.always(r.mustAsk(note("shopping", "x", m)).Ref, "agent")
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
