package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// list puts two calls on one card, so many of which need care, and returns it.
func (r *rig) list(careful int) *approval.Card {
	r.t.Helper()
	err := r.desk.Configure(approval.Terms{
		Config: approval.Config{MaxOpen: 1, MaxPromptsPerHour: 1000},
		People: []approval.Person{{Name: "owner", IDs: []string{"token:owner"}}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.ask(nil) // takes the only place
	for i := range 2 {
		command := fmt.Sprintf("make part-%d", i)
		a := approval.Ask{
			Conversation: conversation, SessionKey: conversation.Key, Agent: "main", Tool: "exec", Level: taint.Untrusted, Approvals: 1,
			Shown: jsontext.Value(`{"command":"` + command + `"}`), Careful: i < careful,
			Digest: fmt.Sprintf("%x", hmac.Sign([]byte("digest"), []byte(command))),
		}
		if _, err := r.desk.Ask(r.t.Context(), &approval.Request{Ask: a, ID: command, Now: time.Now()}); err != nil {
			r.t.Fatal(err)
		}
	}
	var list *approval.Card
	redistest.Eventually(r.t, "the list waits", func() bool {
		cards, _, err := r.desk.Waiting(r.t.Context())
		for _, c := range cards {
			if err == nil && c.Frozen && len(c.Questions) == 2 {
				list = c
			}
		}
		return list != nil
	})
	return list
}

// One pick can't stand for several calls: each that needs care has its own.
func TestOnePickAllowsNoMoreThanOneCarefulCall(t *testing.T) {
	r := newRig(t, nil)
	list, b := r.list(2), r.owner()
	page := b.do(http.MethodPost, "answer", b.form(b.get("cards/"+list.ID).body, "Allow all 2"), nil).body
	for i := range 2 {
		_, o, _, err := r.desk.Look(t.Context(), list.ID)
		if err != nil || o.State != approval.Open {
			t.Fatalf("after %d picks the list is %v, %v", i, o.State, err)
		}
		right := fmt.Sprintf("make part-%d", i)
		if got := picks(page); len(got) != 4 || got[right] == "" || !strings.Contains(page, fmt.Sprintf("Call %d. What will run?", i+1)) {
			t.Fatalf("pick %d is among %q", i+1, got)
		}
		page = b.pick(page, picks(page)[right]).body
	}
	if !strings.Contains(page, "Approved once by owner") {
		t.Errorf("after all picks:\n%s", page)
	}
}

func TestAListWithOneCarefulCallAsksForThatOne(t *testing.T) {
	r := newRig(t, nil)
	list, b := r.list(1), r.owner()
	page := b.do(http.MethodPost, "answer", b.form(b.get("cards/"+list.ID).body, "Allow all 2"), nil).body
	if got := picks(page); len(got) != 4 || got["make part-0"] == "" {
		t.Fatalf("the choices are %q", got)
	}
	if got := b.pick(page, picks(page)["make part-0"]).body; !strings.Contains(got, "Approved once by owner") {
		t.Errorf("the right one:\n%s", got)
	}
}
