package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
)

// source finds what had a say under this name.
func (r *rig) source(ref, label string) session.Influence {
	r.t.Helper()
	account, err := r.desk.Sources.Of(r.t.Context(), ref)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, i := range account.Influences {
		if i.Label == label {
			return i
		}
	}
	r.t.Fatalf("%q is not among %+v", label, account.Influences)
	return session.Influence{}
}

func refOf(key string) string {
	return session.Conversation{Client: config.DefaultClient, Key: "agent:main:" + key}.Ref()
}

func TestH21ASourceThatTheOwnerVouchesForNoLongerCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("v"), "waitMs", 5001, "sessionId", "s1")
		run := func() call { return call{tool: "exec", params: `{"command":"date"}`, context: m} }
		fetch := func(host string) call {
			return call{tool: "web_fetch", params: `{"url":"https://` + host + `/page"}`, context: m}
		}
		r.allow(fetch("wiki.example"))
		// The event that tells of the result is of the same source.
		r.takes(event{name: "after_tool_call", about: `{"toolName":"web_fetch","origin":"wiki.example"}`, context: with(ownerIn("v"), "sessionId", "s1")})
		r.allow(fetch("evil.example"))
		r.allow(fetch("wiki.example"))
		r.deny(run())
		ref := refOf("v")
		list := r.reply(".sources " + ref)
		if list.Kind != "told" || !strings.Contains(list.Text, `"web_fetch wiki.example"  untrusted  since`) || !strings.Contains(list.Text, ref+" is at untrusted") {
			t.Fatalf("listed: %s", list.Text)
		}
		wiki, evil := r.source(ref, "web_fetch wiki.example"), r.source(ref, "web_fetch evil.example")
		if v := r.reply(fmt.Sprintf(".endorse %s %d", ref, wiki.Number)); v.Kind != "told" || !strings.Contains(v.Text, "untrusted as before") {
			t.Fatalf("%+v", v)
		}
		r.deny(run()) // the other one still counts
		if v := r.reply(fmt.Sprintf(".endorse %s %d", ref, evil.Number)); v.Kind != "told" || !strings.Contains(v.Text, "is local now, it was untrusted") {
			t.Fatalf("%+v", v)
		}
		r.allow(run())
		r.quit()
		r.start() // it outlives the process
		r.allow(run())
		r.reply(fmt.Sprintf(".distrust %s %d", ref, evil.Number))
		r.deny(run())
		r.reply(fmt.Sprintf(".endorse %s %d", ref, evil.Number))
		r.allow(run())
		r.allow(fetch("wiki.example")) // it may be another page today
		r.deny(run())
		if i := r.source(ref, "web_fetch wiki.example"); !i.Endorsed.IsZero() {
			t.Errorf("%+v", i)
		}
		n := 0
		for _, e := range r.entries() {
			if e.Kind == audit.KindEndorse {
				n++
				if e.Source == "" || e.People[0].Name != "owner" || e.People[0].Says == "" || e.Ref != ref {
					t.Errorf("the record has %+v", e)
				}
			}
		}
		if n != 4 {
			t.Errorf("%d of 4 are in the record", n)
		}
	})
}

func TestH21WhoMayVouchAndForWhat(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("w"), "waitMs", 5001)
		r.allow(call{tool: "web_fetch", params: `{"url":"https://wiki.example/"}`, context: m})
		r.send(call{tool: "read", params: `{"path":"a"}`, context: with(m, "senderId", "9", "senderIsOwner", nil)})
		ref := refOf("w")
		wiki := r.source(ref, "web_fetch wiki.example")
		say := approval.Vouching{ID: "telegram:666", Via: "telegram", Conversation: ref, Source: wiki.Number}
		if out, err := r.desk.Sources.Endorse(t.Context(), say); err != nil || out.Kind != approval.Unauthorised {
			t.Errorf("a stranger: %+v, %v", out, err)
		}
		say.ID, say.Seen = "token:owner", wiki.Last.Add(-1e9)
		if out, err := r.desk.Sources.Endorse(t.Context(), say); err != nil || out.Kind != approval.TooLate {
			t.Errorf("what was not seen: %+v, %v", out, err)
		}
		wrote := r.source(ref, "someone other than the owner wrote")
		if v := r.reply(fmt.Sprintf(".endorse %s %d", ref, wrote.Number)); v.Kind != "misunderstood" {
			t.Errorf("a sender: %+v", v)
		}
		for _, text := range []string{".endorse " + ref + " 99", ".endorse ABCDEF12 1", ".sources ABCDEF12"} {
			if v := r.reply(text); v.Kind != "not found" {
				t.Errorf("%s: %+v", text, v)
			}
		}
		say.Seen = wiki.Last
		if out, err := r.desk.Sources.Endorse(t.Context(), say); err != nil || out.Kind != approval.Replied || !strings.Contains(out.Text, "is external now") {
			t.Errorf("%+v, %v", out, err) // the stranger still counts
		}
		r.deny(call{tool: "exec", params: `{"command":"date"}`, context: m})
		a := r.deny(call{tool: "exec", params: fmt.Sprintf(`{"command":"verifier endorse %s %d"}`, ref, wiki.Number), context: ownerIn("other")})
		if !strings.Contains(a.Reason, "Not permitted") {
			t.Errorf("the agent may vouch: %s", a.raw)
		}
	})
}

func TestH21UnderStrictNobodyVouches(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Policy.Profile = "strict" })
	m := with(ownerIn("s"), "waitMs", 5001)
	r.allow(call{tool: "web_fetch", params: `{"url":"https://wiki.example/"}`, context: m})
	i := r.source(refOf("s"), "web_fetch wiki.example")
	if v := r.reply(fmt.Sprintf(".endorse %s %d", refOf("s"), i.Number)); v.Kind != "misunderstood" || !strings.Contains(v.Text, "strict") {
		t.Errorf("%+v", v)
	}
	if i := r.source(refOf("s"), "web_fetch wiki.example"); !i.Endorsed.IsZero() {
		t.Errorf("%+v", i)
	}
}
