package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// notAlways says that no standing consent can be given on the card of a call, and why.
func (v *visit) notAlways(what, why string, c call) {
	v.t.Helper()
	ref := v.mustAsk(c).Ref
	if _, page := v.load(http.MethodPost, "/page/always", url.Values{"card": {v.cardID(ref)}}); strings.Contains(page, "Always allow this?") || !strings.Contains(page, why) {
		v.t.Errorf("%s: the page shows\n%s", what, mainOf(page))
	}
	form := url.Values{"handle": {v.alwaysOn(ref)}, "days": {"7"}, "where": {"agent"}}
	if page := v.gives(form); !strings.Contains(page, "Nothing was approved") {
		v.t.Errorf("%s: the form is told\n%s", what, mainOf(page))
	}
	v.noConsent(what)
}

// levelled labels the notebook so that writing there raises nothing, and read_file so that it brings in less than a page does.
func levelled(c *config.Config) {
	noteTool(c)
	label := c.Policy.Tools["notes_add"]
	label.Source = new(false)
	c.Policy.Tools["notes_add"], c.Policy.Trust.Tools = label, map[string]taint.Level{"read_file": taint.External}
}

// TestH640RevokingEndsWhatALaterConsentHides: two standing consents for the same calls, at two levels; only the later one is listed.
func TestH640RevokingEndsWhatALaterConsentHides(t *testing.T) {
	t.Parallel()
	for what, revoke := range map[string]func(r *rig, v *visit){
		"all, in a chat": func(r *rig, _ *visit) { r.reply(".revoke all") },
		"one, in a chat": func(r *rig, _ *visit) { r.reply(".revoke " + strings.Fields(r.reply(".grants").Text)[0]) },
		"on the page":    func(_ *rig, v *visit) { v.revokes("notes_add") },
	} {
		t.Run(what, func(t *testing.T) {
			r, v := owned(t, levelled)
			read := func(name string) map[string]any {
				m := ownerIn(name)
				r.allow(call{tool: "read_file", params: `{"path":"a.txt"}`, context: m})
				return m
			}
			here := read("here")
			v.always(r.mustAsk(note("shopping", "x", here)).Ref, "agent")
			r.allow(note("shopping", "x", here))
			r.allow(fetch(here))
			v.always(r.mustAsk(note("shopping", "z", here)).Ref, "agent")
			r.allow(note("shopping", "y", read("there")))
			revoke(r, v)
			r.notConsented("revoked", note("shopping", "evil", read("elsewhere")))
			r.noConsent("revoked")
		})
	}
}

// TestH641AStandingConsentHoldsInItsDirectory: the same file name in another project is another file.
func TestH641AStandingConsentHoldsInItsDirectory(t *testing.T) {
	t.Parallel()
	in := func(r *rig, talk, directory string) map[string]any {
		return with(r.fetchedIn(talk), "directory", directory, "workspace", directory)
	}
	elsewhere := func(r *rig) {
		r.t.Helper()
		r.allow(note("TODO.md", "fine", in(r, "second", "/srv/work/a")))
		if e := r.last(); e.By != "standing-consent" || !strings.Contains(e.People[0].Says, `in "/srv/work/a"`) {
			r.t.Errorf("the record says %+v", e)
		}
		for _, directory := range []string{"/srv/work/b", "/srv/work/a/b", "/srv/work", "/srv/work/A"} {
			r.notConsented(directory, note("TODO.md", "evil", in(r, "third", directory)))
		}
		r.notConsented("no directory", note("TODO.md", "evil", r.fetchedIn("fourth")))
	}
	t.Run("on a card", func(t *testing.T) {
		r, v := owned(t, noteTool)
		form, page := v.asksAlways(r.mustAsk(note("TODO.md", "x", in(r, "first", "/srv/work/a"))).Ref)
		if !strings.Contains(page, "only in <strong>/srv/work/a") {
			t.Errorf("the page does not name the directory:\n%s", mainOf(page))
		}
		if page = v.gives(form); !strings.Contains(page, alwaysGiven) {
			t.Fatalf("no standing consent was given:\n%s", mainOf(page))
		}
		elsewhere(r)
	})
	t.Run("given without one", func(t *testing.T) {
		r := standing(t)
		r.notConsented("a directory", note("shopping", "evil", in(r, "third", "/srv/work/b")))
	})
}

// TestH642ANoAtTheTerminalSpeaksAgainstAlways: the owner has refused such a call where the agent runs.
func TestH642ANoAtTheTerminalSpeaksAgainstAlways(t *testing.T) {
	r, v := owned(t, noteTool)
	m := r.fetchedIn("first")
	a := r.mustAsk(note("shopping", "evil", m))
	r.takes(event{name: "question_answered", context: m, about: fmt.Sprintf(`{"question":%q}`, a.Question)})
	v.notAlways("refused at the terminal", "you denied or changed", note("shopping", "x", r.fetchedIn("second")))
}

// TestH643RevokingInOneConversation ends what holds there only, and no standing consent of another or of all.
func TestH643RevokingInOneConversation(t *testing.T) {
	r, v := owned(t, noteTool)
	here, there := r.fetchedIn("here"), r.fetchedIn("there")
	for notebook, given := range map[string]struct {
		m     map[string]any
		where string
	}{"shopping": {here, "here"}, "work": {there, "here"}, "home": {there, "agent"}} {
		v.always(r.mustAsk(note(notebook, "x", given.m)).Ref, given.where)
		r.allow(note(notebook, "x", given.m)) // the yes to the call itself
	}
	hash := ""
	given, err := r.desk.Consents.Active(t.Context())
	for i := range given {
		if g := &given[i]; strings.Contains(g.Like, "shopping") {
			hash = g.Conversation.Hash()
		}
	}
	if err != nil || hash == "" {
		t.Fatal(given, err)
	}
	if status, page := v.load(http.MethodPost, "/page/grants", url.Values{"grant": {hash}}); status != http.StatusOK || !strings.Contains(page, "was ended by") {
		t.Fatalf("%d\n%s", status, mainOf(page))
	}
	r.allow(note("work", "y", there))
	r.allow(note("home", "y", here))
	r.notConsented("revoked", note("shopping", "y", here))
}

// TestH644ANoOnAnotherGatewaySpeaksAgainstAlways: two gateways share a store, each has its own record, and the owner has refused such a call on the other one.
func TestH644ANoOnAnotherGatewaySpeaksAgainstAlways(t *testing.T) {
	t.Parallel()
	for what, refuse := range map[string]func(o *rig, m map[string]any){
		"denied": func(o *rig, m map[string]any) { o.refuse(o.mustAsk(note(" Shopping", "evil", m)).Ref, "") },
		"changed": func(o *rig, m map[string]any) {
			held := o.hold(note("shopping", "evil", with(m, "edits", true)))
			o.editTwice(o.waits().Ref, `{"notebook":"shopping","text":"good"}`)
			<-held
		},
		"refused at the terminal": func(o *rig, m map[string]any) {
			a := o.mustAsk(note("shopping", "evil", m))
			o.takes(event{name: "question_answered", context: m, about: fmt.Sprintf(`{"question":%q}`, a.Question)})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRedisRig(t, noteTool)
			untilReady(t, r)
			o := r.replica()
			o.secret, o.token = o.credentials()
			untilReady(t, o)
			v := r.visit()
			v.enter(r.loginLink())
			refuse(o, o.fetchedIn("second"))
			v.notAlways(what, "you denied or changed", note("shopping", "x", r.fetchedIn("third")))
			v.always(r.mustAsk(note("work", "x", r.fetchedIn("fourth"))).Ref, "agent")
		})
	}
}

// TestH646WhatIsForgottenOfRefusalsCountsAsOne: so many calls of a tool were refused that a no may be forgotten.
func TestH646WhatIsForgottenOfRefusalsCountsAsOne(t *testing.T) {
	r, v := owned(t, noteTool)
	sum := sha256.Sum256([]byte("notes_add"))
	name := hex.EncodeToString(sum[:16])
	entries := make([][]byte, 500)
	for i := range entries {
		entries[i] = []byte("not under our seal")
	}
	if err := r.g.store.Note(t.Context(), session.Note{List: name[:2] + ":refused:" + name, Entries: entries, Most: 500, Keep: time.Hour}); err != nil {
		t.Fatal(err)
	}
	v.notAlways("many were refused", "not all of them are remembered", note("shopping", "x", r.fetchedIn("first")))
}
