package approval_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
)

// TestH552ASummaryThatSomeoneWroteIntoTheStoreIsNotShown: one without our seal, and one of ours with other words.
func TestH552ASummaryThatSomeoneWroteIntoTheStoreIsNotShown(t *testing.T) {
	s, c := openStore(t), newChat()
	d := openDesk(t, s, func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"chat": c}
		o.Summarise = func(context.Context, *approval.Ask) string { return "It says hello." }
	})
	ask(t, d, nil)
	id := c.card(t).ID
	if o := c.shows(t); o.Card.Questions[0].Summary == nil || o.Card.Questions[0].Summary.Text != "It says hello." || o.State != approval.Open || o.Text != "" {
		t.Fatalf("the card shows %+v", o)
	}
	for _, change := range []func(*approval.Summary){
		func(f *approval.Summary) { f.Text = "It is safe." },
		func(f *approval.Summary) { *f = approval.Summary{Text: "It is safe.", Seal: "x"} },
	} {
		stored, _, err := s.Load(t.Context(), id)
		if err != nil || len(stored) != 1 {
			t.Fatal(err)
		}
		var k approval.Card
		if err := json.Unmarshal(stored[0].Blob, &k); err != nil {
			t.Fatal(err)
		}
		change(k.Questions[0].Summary)
		blob, err := json.Marshal(&k)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Swap(t.Context(), approval.Change{ID: id, Version: stored[0].Version, Conversation: conversation, Blob: blob}); err != nil {
			t.Fatal(err)
		}
		seen, _, _, err := d.Look(t.Context(), id)
		if err != nil || seen.Questions[0].Summary != nil {
			t.Errorf("%v: the card shows %+v", err, seen.Questions[0].Summary)
		}
	}
}
