package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// grant has the owner grant a tool for a quarter of an hour.
func (r *rig) grant(b *browser, edit func(*approval.Ask)) {
	r.t.Helper()
	ruling := r.ask(edit)
	form := b.form(b.get("").body, "15 min")
	form.Set("minutes", "15")
	if got := b.do(http.MethodPost, "answer", form, nil); !strings.Contains(got.body, "Approved exactly this for 15 minutes") {
		r.t.Fatalf("the page says\n%s", got.body)
	}
	<-ruling
}

// paused reports whether an agent is.
func (r *rig) paused(agent string) bool {
	all, err := r.desk.Pauses.List(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(p store.Pause) bool { return p.Agent == agent })
}

func (r *rig) open() []store.Given {
	r.t.Helper()
	open, _, err := r.desk.Grants.List(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return open
}

func TestGrantsAreShownAndRevoked(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	if page := b.get("grants").body; !strings.Contains(page, "No grants") || strings.Contains(page, "Revoke") {
		t.Errorf("without any:\n%s", page)
	}
	for _, tool := range []string{"exec", "write", "message"} {
		r.grant(b, func(a *approval.Ask) { a.Tool = tool })
	}
	page := b.get("grants").body
	for _, want := range []string{"<h2>exec</h2>", "<h2>write</h2>", "agent:main:main", "<dt>by</dt><dd>owner", `class="level untrusted"`, "datetime=", "Revoke all"} {
		if !strings.Contains(page, want) {
			t.Errorf("the view has no %s:\n%s", want, page)
		}
	}
	one := r.open()[0]
	form := b.form(page, "Revoke")
	form.Set("grant", one.ID)
	if got := b.do(http.MethodPost, "grants", form, nil); !strings.Contains(got.body, "was ended by owner (page)") || len(r.open()) != 2 {
		t.Errorf("one: %s", got.body)
	}
	if got := b.do(http.MethodPost, "grants", b.form(b.get("grants").body, "Revoke all"), nil); !strings.Contains(got.body, "2 grants were ended by owner (page)") || len(r.open()) != 0 {
		t.Errorf("all: %s", got.body)
	}
	if n := strings.Count(r.record.String(), `"kind":"`+string(record.KindRevoke)+`"`); n != 3 {
		t.Errorf("%d are recorded", n)
	}
}

func TestH52GrantsAreEndedOnlyByWhoeverMayAndFromThePage(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	r.grant(b, nil)
	form := b.form(b.get("grants").body, "Revoke all")
	for what, edit := range map[string]func(*http.Request){
		"a foreign origin": func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") },
		"a foreign host":   func(q *http.Request) { q.Host = "evil.example"; q.Header.Set("Origin", "http://evil.example") },
	} {
		if got := b.do(http.MethodPost, "grants", form, edit); got.status != http.StatusForbidden && got.status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", what, got.status)
		}
	}
	if got := r.browser().post("grants", "grant", "all"); got.status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got.status)
	}
	if got := b.get("grants?" + form.Encode()); got.status != http.StatusOK || len(r.open()) != 1 {
		t.Errorf("by GET: %d", got.status)
	}
	guest := r.guest()
	page := guest.get("grants").body
	if !strings.Contains(page, "<h2>exec</h2>") || strings.Contains(page, "Revoke") || strings.Contains(page, "Pause the agent") {
		t.Errorf("a viewer sees\n%s", page)
	}
	for _, path := range []string{"grants", "say", "answer", "reveal"} {
		if got := guest.post(path, "grant", "all", "what", "pause"); got.status != http.StatusForbidden {
			t.Errorf("a viewer at %s: %d", path, got.status)
		}
	}
	if len(r.open()) != 1 || r.desk.Pauses.Text(t.Context()) != "" {
		t.Error("one of them was taken")
	}
}

// guest is a browser of someone who may only look.
func (r *rig) guest() *browser {
	r.t.Helper()
	b := r.browser()
	if got := b.login("token", "t0ken-0f-a-guest"); !strings.Contains(got.body, "may look") {
		r.t.Fatalf("logging in: %s", got.body)
	}
	return b
}

func TestOneAgentIsPausedFromThePage(t *testing.T) {
	r := newRig(t, nil)
	r.fill(4)
	for _, agent := range []string{"ops", "OPS", canary, "two words"} {
		if err := r.record.Append(record.Entry{Kind: record.KindNote, Agent: agent}); err != nil {
			t.Fatal(err)
		}
	}
	// A call of no agent that only speaks of one takes nobody's button away.
	if err := r.record.Append(record.Entry{Kind: record.KindNote, Params: []byte(`{"agent":"main"}`)}); err != nil {
		t.Fatal(err)
	}
	b := r.owner()
	page := b.get("grants").body
	if strings.Count(page, ">Pause ") != 4 || strings.Contains(page, "two words") || strings.Contains(page, "alert(") { // the heading, all, main, ops
		t.Errorf("the view:\n%s", page)
	}
	got := b.do(http.MethodPost, "say", b.form(page, "Pause main"), nil)
	if !strings.Contains(got.body, "The agent &#34;main&#34; paused by owner (page)") || !r.paused("main") ||
		r.paused("ops") {
		t.Errorf("pause: %s", got.body)
	}
	got = b.do(http.MethodPost, "say", b.form(got.body, "Lift main"), nil)
	if !strings.Contains(got.body, "resumed by owner (page)") || r.paused("main") {
		t.Errorf("lift: %s", got.body)
	}
	if got := b.post("say", "what", "pause", "agent", "a\n.resume"); !strings.Contains(got.body, "Write: .pause") {
		t.Errorf("a name that is none: %s", got.body)
	}
}
