package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
)

// story is a conversation in the record: the owner asks, the agent reads the web,
// somebody else writes, and a call is asked about and denied.
func story(c session.Conversation) []audit.Entry {
	of := func(kind audit.Kind, run, tool, params, level string) audit.Entry {
		return audit.Entry{Kind: kind, Client: c.Client, Session: c.Key, Agent: "main", Run: run, Tool: tool, Params: jsontext.Value(params), Level: level, Started: "the owner wrote directly"}
	}
	read := of(audit.KindDecision, "run-1", "read", `{"path":"a.txt"}`, "owner")
	read.Decision, read.RaisedTo, read.Source = audit.Allow, "local", "read a.txt"
	fetch := of(audit.KindDecision, "run-1", "web_fetch", `{"url":"https://example.com/x"}`, "local")
	fetch.Decision, fetch.RaisedTo, fetch.Source = audit.Allow, "untrusted", "web_fetch example.com"
	again := of(audit.KindDecision, "run-2", "web_fetch", `{"url":"https://example.org/y"}`, "untrusted")
	again.Decision, again.Started = audit.Allow, "someone other than the owner wrote"
	asked := of(audit.KindAsked, "run-2", "exec", `{"command":"make deploy"}`, "untrusted")
	denied := of(audit.KindDecision, "run-2", "exec", `{"command":"make deploy"}`, "untrusted")
	denied.Decision, denied.Ref = audit.Deny, "7Q4K"
	return []audit.Entry{read, fetch, again, asked, denied}
}

func (r *rig) tell(entries ...audit.Entry) {
	r.t.Helper()
	for _, e := range entries {
		if err := r.record.Append(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

// turned is a small turn in which something was blocked.
func turned(session, run, label string) *provenance.Graph {
	return provenance.Build("0123456789abcdef", []provenance.Fact{
		{What: provenance.Began, At: 1, Session: session, Agent: "main", Run: run},
		{What: provenance.Called, At: 2, Start: taint.Owner, Level: taint.Owner, Brings: taint.Untrusted, Allowed: true, Tool: "web_fetch", Metadata: provenance.Metadata{Label: label}},
		{What: provenance.Called, At: 3, Level: taint.Untrusted, Tool: "exec", Tainted: true, Reason: "unanswered"},
	})
}

func TestAConversationSaysWhatHappenedInIt(t *testing.T) {
	r := newRig(t, nil)
	r.fill(3) // of the same conversation, before
	other := session.Conversation{Client: "default", Key: "agent:main:other"}
	r.tell(story(other)...)
	r.memory.graphs[other.Ref()] = turned(other.Key, "run-2", "web_fetch example.com")
	b := r.owner()
	list := b.get("talks").body
	for _, want := range []string{`href="/page/talks/` + other.Hash() + `"`, `href="/page/talks/` + conversation.Hash() + `"`, "agent:main:other", `Read <span class="w">a.txt</span>`, "4 calls · 1 asked · 1 denied"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s:\n%s", want, list)
		}
	}
	page := b.get("talks/" + other.Hash()).body
	if !strings.Contains(page, `<h1 class="name">Read <span class="w">a.txt</span></h1>`) {
		t.Errorf("the conversation is not titled by its first call:\n%s", page)
	}
	for _, want := range []string{
		other.Ref(), `<path d="M76 `, `<span class="level untrusted">untrusted</span> web_fetch example.com`, "the owner wrote directly", "someone other than the owner wrote",
		"web_fetch example.org", "read a.txt", "make deploy", `class="node untrusted"`, `class="node untrusted blocked"`, `tabindex="0" role="img" aria-label="web_fetch`,
		"tool: exec → BLOCKED", `href="?turn=run-1"`, "1 denied", "Nothing is granted here", ".reset-trust " + other.Ref(),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the conversation has no %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "make deploy 1") {
		t.Error("another conversation's calls stand in it")
	}
	if got := b.get("talks/" + strings.Repeat("0", 32)); got.status != http.StatusNotFound {
		t.Errorf("one that never was: %d", got.status)
	}
	// Runs that are called the same: in another conversation, and in one that another client calls the same.
	namesake := session.Conversation{Client: "another", Key: other.Key}
	r.memory.graphs["run-2"] = turned(other.Key, "run-2", "web_fetch example.net")
	r.memory.graphs[turns.ID(namesake, "run-2")] = r.memory.graphs["run-2"]
	if got := b.get("talks/" + other.Hash() + "?turn=run-2").body; !strings.Contains(got, "This turn is no longer kept") || strings.Contains(got, "example.net") {
		t.Errorf("another conversation's turn is shown:\n%s", got)
	}
	r.memory.graphs[turns.ID(other, "run-2")] = turned(other.Key, "run-2", "web_fetch example.com")
	if got := b.get("talks/" + other.Hash() + "?turn=run-2").body; strings.Contains(got, "This turn is no longer kept") || strings.Contains(got, "example.net") {
		t.Errorf("its own turn is not shown:\n%s", got)
	}
	if got := b.get("talks/" + other.Hash() + "?turn=run-1").body; !strings.Contains(got, "This turn is no longer kept") {
		t.Errorf("a turn that is not remembered:\n%s", got)
	}
}

func TestTrustIsResetAndGrantsAreEndedFromAConversation(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	r.grant(b, nil)
	r.grant(b, func(a *approval.Ask) { a.Tool = "write" })
	if err := r.store.Raise(t.Context(), conversation, taint.Untrusted, "web_fetch"); err != nil {
		t.Fatal(err)
	}
	at := "talks/" + conversation.Hash()
	if got := b.do(http.MethodPost, at, b.form(b.get(at).body, "End all grants now"), nil); !strings.Contains(got.body, "2 grants were ended by owner (page)") || len(r.open()) != 0 {
		t.Errorf("ending: %s", got.body)
	}
	form := b.form(b.get(at).body, "Reset trust")
	guest := r.guest()
	if page := guest.get(at).body; strings.Contains(page, "Reset trust") || !strings.Contains(page, "Who started it") {
		t.Errorf("a viewer sees\n%s", page)
	}
	for what, got := range map[string]reply{
		"a viewer":         guest.post(at, "what", "reset"),
		"a foreign origin": b.do(http.MethodPost, at, form, func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") }),
	} {
		if got.status != http.StatusForbidden {
			t.Errorf("%s: %d", what, got.status)
		}
	}
	if got := b.post(at, "what", "endorse everything"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("anything else: %d", got.status)
	}
	if level, err := r.store.Worst(t.Context(), conversation); err != nil || level != taint.Untrusted {
		t.Errorf("one of them was taken: %v, %v", level, err)
	}
	if got := b.do(http.MethodPost, at, form, nil); !strings.Contains(got.body, "The taint of "+conversation.Ref()+" is forgotten") {
		t.Errorf("resetting: %s", got.body)
	}
	if level, err := r.store.Worst(t.Context(), conversation); err != nil || level != taint.System {
		t.Errorf("after it: %v, %v", level, err)
	}
	if !strings.Contains(r.record.String(), `"kind":"reset"`) {
		t.Error("it is not recorded")
	}
}

func TestH51TheNamesOfConversationsAndTurnsStayText(t *testing.T) {
	r := newRig(t, nil)
	evil := session.Conversation{Client: canary, Key: canary + `","session":"x`}
	entries := story(evil)
	for i := range entries {
		entries[i].Agent, entries[i].Run, entries[i].Tool, entries[i].Source, entries[i].Started = canary, canary, canary, canary, canary
	}
	r.tell(entries...)
	r.memory.graphs[evil.Ref()], r.memory.graphs[turns.ID(evil, canary)] = turned(evil.Key, canary, canary), turned(evil.Key, canary, canary)
	b := r.owner()
	r.grant(b, func(a *approval.Ask) { a.Tool, a.Agent, a.SessionKey = canary, canary, canary })
	for where, page := range map[string]string{
		"the list": b.get("talks").body, "the conversation": b.get("talks/" + evil.Hash()).body, "a turn": b.get("talks/" + evil.Hash() + "?turn=" + url.QueryEscape(canary)).body,
		"the grants": b.get("grants").body,
	} {
		if !strings.Contains(page, "alert(1)") {
			t.Errorf("%s does not show it at all:\n%s", where, page)
		}
		for _, live := range []string{"<script>alert", "<img src=x", `hx-get="/x"`, `' hx-get`, "href=\"javascript:"} {
			if strings.Contains(page, live) {
				t.Errorf("%s holds %q", where, live)
			}
		}
	}
}

func TestALongConversationIsCutAndQuick(t *testing.T) {
	r := newRig(t, nil)
	r.fill(2000)
	b := r.owner()
	page := b.get("talks/" + conversation.Hash()).body
	if !strings.Contains(page, "decided, lately") || strings.Count(page, "<details><summary><span class=\"sign\"") > 300 {
		t.Errorf("%d bytes", len(page))
	}
	began := time.Now()
	b.get("talks/" + conversation.Hash())
	t.Logf("it takes %s", time.Since(began))
}
