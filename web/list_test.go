package web_test

import (
	"fmt"
	"net/http"
	"net/url"
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

func TestOnePickAllowsNoMoreThanOneCarefulCall(t *testing.T) {
	r := newRig(t, nil)
	list, b := r.list(2), r.owner()
	page := b.get("cards/" + list.ID).body
	if strings.Contains(page, "Allow all") || strings.Contains(page, "Read all of it to allow") || !strings.Contains(page, "one pick can&#39;t stand for several") || !strings.Contains(page, "Deny all") {
		t.Fatalf("the list:\n%s", page)
	}
	for _, action := range []approval.Action{approval.AllowOnce, approval.AllowSeen} { // by a button of an older page
		forged := url.Values{"handle": {list.Handle(action)}}
		if got := b.do(http.MethodPost, "answer", forged, nil).body; len(picks(got)) > 0 || !strings.Contains(got, "Nothing was approved") {
			t.Fatalf("allowing all the same:\n%s", got)
		}
	}
	_, o, _, err := r.desk.Look(t.Context(), list.ID)
	if err != nil || o.State != approval.Open {
		t.Fatalf("the list is %v, %v", o.State, err)
	}
	if got := b.do(http.MethodPost, "answer", b.form(page, "Deny all"), nil).body; !strings.Contains(got, "denied by owner (page)") {
		t.Errorf("denying:\n%s", got)
	}
}

func TestAListWithOneCarefulCallAsksForThatOne(t *testing.T) {
	r := newRig(t, nil)
	list, b := r.list(1), r.owner()
	page := b.do(http.MethodPost, "answer", b.form(b.get("cards/"+list.ID).body, "Allow all 2"), nil).body
	if got := picks(page); len(got) != 4 || got["make part-0"] == "" {
		t.Fatalf("the choices are %q", got)
	}
	if got := b.pick(page, picks(page)["make part-0"]).body; !strings.Contains(got, "approved once by owner (page)") {
		t.Errorf("the right one:\n%s", got)
	}
}
