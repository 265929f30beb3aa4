package approval_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// A no holds for the same call for ten minutes or until the user writes again, and then people may think again.
func TestANoEndsBeforeTheQuestionWould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, openStore(t), nil)
		r := request(nil)
		ruling := ask(t, d, func(into *approval.Request) { *into = r })
		<-time.After(time.Second) // the call waits for others of its turn
		synctest.Wait()
		cards, _, err := d.Waiting(t.Context())
		if err != nil || len(cards) != 1 {
			t.Fatalf("waiting: %+v, %v", cards, err)
		}
		tap(t, d, alice, cards[0].Handle(approval.DenyCall), "")
		if got := <-ruling; !got.Denied {
			t.Fatalf("got %+v", got)
		}
		r.ID, r.Waiting = "soon", cards[0].ID
		if got := <-ask(t, d, func(into *approval.Request) { *into = r }); !got.Denied {
			t.Errorf("at once it got %+v", got)
		}
		<-time.After(9 * time.Minute)
		r.ID, r.Now = "later", time.Now()
		if got := <-ask(t, d, func(into *approval.Request) { *into = r }); !got.Denied || got.Card != cards[0].ID {
			t.Errorf("nine minutes later it got %+v", got)
		}
		r.ID = "another message"
		r.Ask.Said = append(slices.Clone(r.Ask.Said), "do it all the same")
		if got := <-ask(t, d, func(into *approval.Request) { *into = r }); got.Denied || got.Yes || got.Card == cards[0].ID {
			t.Errorf("after another message it got %+v", got)
		}
		r = request(nil)
		<-time.After(2 * time.Minute)
		r.ID, r.Waiting, r.Now = "ten minutes later", cards[0].ID, time.Now()
		if got := <-ask(t, d, func(into *approval.Request) { *into = r }); got.Denied || got.Yes || got.Card == cards[0].ID {
			t.Errorf("eleven minutes later it got %+v", got)
		}
	})
}

// A question that no one answered is not asked again for ten minutes, unless the user writes meanwhile.
func TestAQuestionThatEndedIsNotAskedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, openStore(t), nil)
		r := request(nil)
		first := <-ask(t, d, func(into *approval.Request) { *into = r })
		<-time.After(approval.DefaultTTL + time.Minute)
		again := func(id string) approval.Ruling {
			r.ID, r.Waiting, r.Now = id, first.Card, time.Now()
			return <-ask(t, d, func(into *approval.Request) { *into = r })
		}
		if got := again("soon"); !got.Silent || got.Yes || got.Card != first.Card {
			t.Errorf("a minute later it got %+v", got)
		}
		said := r.Ask.Said
		r.Ask.Said = append(slices.Clone(said), "go on")
		if got := again("another message"); got.Silent || got.Card == first.Card {
			t.Errorf("after another message it got %+v", got)
		}
		r.Ask.Said = said
		<-time.After(10 * time.Minute)
		if got := again("later"); got.Silent || got.Card == first.Card {
			t.Errorf("eleven minutes later it got %+v", got)
		}
	})
}

// pickyChat can show no card for several calls.
type pickyChat struct{ *chat }

func (c pickyChat) Send(ctx context.Context, k *approval.Card) (string, error) {
	if len(k.Questions) > 1 {
		return "", context.DeadlineExceeded
	}
	return c.chat.Send(ctx, k)
}

func TestCallsWhoseSharedCardCouldNotBeSentAreAskedAboutAlone(t *testing.T) {
	c := pickyChat{newChat()}
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Inbox, o.Channels, o.Together = false, map[string]approval.Channel{"chat": c}, 200*time.Millisecond
	})
	first, second := ask(t, d, nil), ask(t, d, nil)
	for range 2 {
		k := c.card(t)
		if len(k.Questions) != 1 {
			t.Fatalf("a card with %d calls", len(k.Questions))
		}
		tap(t, d, alice, k.Handle(approval.AllowOnce), "")
	}
	for _, ruling := range []<-chan approval.Ruling{first, second} {
		if r := <-ruling; !r.Yes {
			t.Errorf("got %+v", r)
		}
	}
}
