package approval_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/store/sqlite"
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
		func(f *approval.Summary) { f.At = f.At.Add(time.Hour) },
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

// TestH571NoButtonThatASummaryMayHaveMovedAllows: a tap in a chat that comes right after the summary does not count, unless it denies.
func TestH571NoButtonThatASummaryMayHaveMovedAllows(t *testing.T) {
	start := time.Now()
	var passed atomic.Int64
	elapsed := func() time.Duration { return time.Duration(passed.Load()) }
	s := openStoreWith(t, sqlite.Options{Timeout: time.Minute, Elapsed: elapsed, Now: func() time.Time { return start.Add(elapsed()) }})
	c, says := newChat(), make(chan string)
	d := openDesk(t, s, func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"chat": c}
		o.Summarise = func(context.Context, *approval.Ask) string { return <-says }
	})
	refused := func(card *approval.Card, action approval.Action) {
		t.Helper()
		if o := tap(t, d, alice, card.Handle(action), ""); o.Kind == approval.Counted || !strings.Contains(o.Text, "tap again") {
			t.Errorf("%c is told %+v", action, o)
		}
	}
	v := ask(t, d, nil)
	card := c.card(t)
	says <- "It says hello."
	c.shows(t)
	for _, a := range []approval.Action{approval.AllowOnce, approval.AllowMinutes, approval.AllowExactly, approval.AllowTurn} {
		refused(card, a)
	}
	passed.Add(int64(1900 * time.Millisecond))
	refused(card, approval.AllowOnce)
	passed.Add(int64(200 * time.Millisecond))
	if o := tap(t, d, alice, card.Handle(approval.AllowOnce), ""); o.Kind != approval.Counted {
		t.Errorf("later: %+v", o)
	}
	if got := <-v; !got.Yes {
		t.Errorf("got %+v", got)
	}
	c.shows(t) // how it ended
	denied := ask(t, d, nil)
	card = c.card(t)
	says <- "It says hello again."
	c.shows(t)
	if o := tap(t, d, alice, card.Handle(approval.DenyCall), ""); o.Kind != approval.Counted {
		t.Errorf("a no is told %+v", o)
	}
	if got := <-denied; got.Yes {
		t.Errorf("got %+v", got)
	}
}
