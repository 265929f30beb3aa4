package web_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestWhatIsHiddenIsShownOnlyWhenAskedForAndRecorded(t *testing.T) {
	const secret = "hunter2-and-more"
	r := newRig(t, nil)
	r.whole = jsontext.Value(`{"command":"login --password ` + secret + `"}`)
	ruling := r.ask(func(a *approval.Ask) {
		a.Shown, a.Hidden, a.Lasting = jsontext.Value(`{"command":"login --password [REDACTED: 16 chars]"}`), 1, false
	})
	b := r.owner()
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := b.get("cards/" + cards[0].ID).body
	if strings.Contains(b.get("").body+page, secret) {
		t.Fatal("it stands there unasked")
	}
	form := b.form(page, "Show what is hidden")
	viewer := r.browser()
	viewer.follow(r.link(true))
	if got := viewer.post("reveal", "card", cards[0].ID); got.status != http.StatusForbidden || strings.Contains(got.body, secret) {
		t.Errorf("a viewer gets %d", got.status)
	}
	if got := b.get("reveal?" + form.Encode()); strings.Contains(got.body, secret) {
		t.Error("a GET shows it")
	}
	shown := b.do(http.MethodPost, "reveal", form, nil)
	if !strings.Contains(shown.body, secret) || shown.header.Get("Cache-Control") != "no-store" {
		t.Errorf("it is not shown:\n%s", shown.body)
	}
	if !strings.Contains(page, "NOT FULLY VISIBLE") || strings.Contains(shown.body, "NOT FULLY VISIBLE") || strings.Contains(shown.body, "Show what is hidden") {
		t.Errorf("all of it is visible, and the page says that it is not:\n%s", shown.body)
	}
	b.form(shown.body, "Allow once")
	if log := r.record.String(); !strings.Contains(log, "what is hidden in the call was shown") || strings.Contains(log, secret) {
		t.Errorf("the record: %s", log)
	}
	if strings.Contains(b.get("cards/"+cards[0].ID).body, secret) {
		t.Error("it stays")
	}
	// Whoever may not allow the call does not get to see it whole, either.
	card := *cards[0]
	card.Ask.Approvers = []string{"ann"}
	err = r.desk.Open(t.Context(), approval.Answer{ID: "token:owner"}, &card, true)
	if !errors.Is(err, approval.ErrNotApprover) ||
		strings.Contains(string(card.Ask.Shown), secret) {
		t.Errorf("barred: %s, %v", card.Ask.Shown, err)
	}
	b.do(http.MethodPost, "answer", b.form(shown.body, "Deny"), nil)
	<-ruling
	if got := b.do(http.MethodPost, "reveal", form, nil); strings.Contains(got.body, secret) {
		t.Error("it is shown after the answer")
	}
}

// TestWhatTheClientHidStaysHidden: the gateway never had it, so that opening a call does not show all of it.
func TestWhatTheClientHidStaysHidden(t *testing.T) {
	for name, edit := range map[string]func(*approval.Ask){
		"in the params":        func(a *approval.Ask) { a.HeldOnly, a.Bodies = true, 1 },
		"in the tool's name":   func(a *approval.Ask) { a.Tool, a.Bodies = "send_[REDACTED: 16 chars]", 1 },
		"and nothing is (all)": func(a *approval.Ask) { a.Bodies = 1 },
	} {
		r := newRig(t, nil)
		r.whole = jsontext.Value(`{"path":"a","content":"b"}`)
		ruling := r.ask(func(a *approval.Ask) {
			a.Shown, a.Hidden, a.Lasting = jsontext.Value(`{"path":"a","content":"[REDACTED: 1 chars]"}`), 1, false
			edit(a)
		})
		cards, _, err := r.desk.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		card := cards[0]
		if err := r.desk.Open(t.Context(), approval.Answer{ID: "token:owner"}, card, true); err != nil {
			t.Fatal(err)
		}
		if hidden, want := card.Ask.Hidden, strings.HasPrefix(name, "in "); (hidden > 0) != want {
			t.Errorf("%s: %d hidden after it was opened", name, hidden)
		}
		b := r.owner()
		b.do(http.MethodPost, "answer", b.form(b.get("cards/"+card.ID).body, "Deny"), nil)
		<-ruling
	}
}
