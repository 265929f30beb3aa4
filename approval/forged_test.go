package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
)

// forge writes a vote onto a card as someone would who can write to the store
// and has no key.
func forge(t *testing.T, s approval.Store, id string, v approval.Vote) {
	t.Helper()
	for {
		stored, _, err := s.Load(t.Context(), id)
		if err != nil || len(stored) != 1 {
			t.Fatal(err)
		}
		var c approval.Card
		if err := json.Unmarshal(stored[0].Blob, &c); err != nil {
			t.Fatal(err)
		}
		c.Questions[0].Votes = append(c.Questions[0].Votes, v)
		blob, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Swap(t.Context(), approval.Change{ID: id, Version: stored[0].Version, Conversation: conversation, Blob: blob})
		if err == nil {
			return
		}
		if !errors.Is(err, approval.ErrStale) { // the desk notes where the card is shown
			t.Fatal(err)
		}
	}
}

func TestH53AYesThatSomeoneWroteIntoTheStoreIsNeitherCountedNorShown(t *testing.T) {
	s, c := openStore(t), newChat()
	d := openDesk(t, s, func(o *approval.Options) {
		o.Channels, o.Terms.Approvals = map[string]approval.Channel{"chat": c}, 2
	})
	ruling := ask(t, d, nil)
	k := c.card(t)
	forge(t, s, k.ID, approval.Vote{Person: "bob", ID: bob, Via: "chat", Allow: true, At: time.Now()})

	if o := tap(t, d, alice, k.Handle(approval.AllowOnce), ""); o.Kind != approval.Counted || o.State != approval.Open || !strings.Contains(o.Text, "1 of 2 approvals") || o.By != "alice" {
		t.Errorf("after alice's yes: %+v", o)
	}
	if o := c.shows(t); o.By != "alice" || len(o.Card.Questions[0].Votes) != 1 {
		t.Errorf("the card shows %+v", o)
	}
	if o := tap(t, d, bob, k.Handle(approval.AllowOnce), ""); o.Kind != approval.Counted || o.State != approval.Allowed {
		t.Errorf("bob's own yes: %+v", o)
	}
	if r := <-ruling; !r.Yes || len(r.Votes) != 2 {
		t.Errorf("ruled %+v", r)
	}
}
