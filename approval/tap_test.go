package approval_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withChat gives a desk with one chat and the first card in it.
func withChat(t testing.TB, edit func(*approval.Options)) (*approval.Desk, *chat) {
	t.Helper()
	c := newChat()
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"chat": c}
		if edit != nil {
			edit(o)
		}
	})
	return d, c
}

func TestAHandleIsShortAndDoesNotHoldTheCode(t *testing.T) {
	d, c := withChat(t, nil)
	ask(t, d, nil)
	card := c.card(t)
	for _, a := range []approval.Action{approval.AllowOnce, approval.AllowMinutes, approval.AllowExactly, approval.AllowLike, approval.DenyCall, approval.Details, approval.AllowSeen, approval.AllowFile} {
		h := card.Handle(a)
		raw, err := base64.RawURLEncoding.DecodeString(h)
		if err != nil || len(h) > 64 || h == "" || strings.Contains(string(raw), card.Code) || strings.Contains(h, card.Code) {
			t.Errorf("%c: %q, %v", a, h, err)
		}
	}
	tap(t, d, alice, card.Handle(approval.DenyCall), "")
}

func TestEachButtonDoesWhatItSays(t *testing.T) {
	cases := map[approval.Action]struct {
		reason string
		kind   approval.Kind
		state  approval.State
		scope  approval.Scope
	}{
		approval.AllowOnce:    {kind: approval.Counted, state: approval.Allowed},
		approval.AllowMinutes: {kind: approval.Counted, state: approval.Allowed, scope: approval.Scope{Minutes: 30}},
		approval.AllowExactly: {kind: approval.Counted, state: approval.Allowed, scope: approval.Scope{Exactly: true, Minutes: 30}},
		approval.AllowSeen:    {kind: approval.Counted, state: approval.Allowed},
		approval.AllowFile:    {kind: approval.Counted, state: approval.Allowed},
		approval.DenyCall:     {kind: approval.Counted, state: approval.Denied, reason: "use make"},
	}
	for action, want := range cases {
		t.Run(string(rune(action)), func(t *testing.T) {
			d, c := withChat(t, nil)
			ruling := ask(t, d, nil)
			o := tap(t, d, alice, c.card(t).Handle(action), want.reason)
			if o.Kind != want.kind || o.State != want.state || o.Scope != want.scope || o.Reason != want.reason {
				t.Errorf("%+v", o)
			}
			if r := <-ruling; r.Yes != (want.state == approval.Allowed) || r.Reason != want.reason {
				t.Errorf("the ruling: %+v", r)
			}
		})
	}
}

func TestDetailsDecideNothing(t *testing.T) {
	d, c := withChat(t, nil)
	ruling := ask(t, d, nil)
	card := c.card(t)
	o := tap(t, d, alice, card.Handle(approval.Details), "")
	if o.Kind != approval.Shown || o.Card == nil || o.Card.ID != card.ID || o.Card.Code != card.Code {
		t.Errorf("%+v", o)
	}
	tap(t, d, bob, card.Handle(approval.AllowOnce), "")
	if r := <-ruling; !r.Yes {
		t.Errorf("the ruling: %+v", r)
	}
}

func TestAForgedHandleDoesNothing(t *testing.T) {
	d, c := withChat(t, nil)
	ask(t, d, nil)
	card := c.card(t)
	genuine := card.Handle(approval.Details)
	forged := []string{"x", genuine[:45], genuine + "A", genuine + "=", "\n" + genuine}
	raw, err := base64.RawURLEncoding.DecodeString(genuine)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] ^= 1
		forged = append(forged, base64.RawURLEncoding.EncodeToString(raw))
		raw[i] ^= 1
	}
	raw[0] = byte(approval.AllowOnce)
	forged = append(forged, base64.RawURLEncoding.EncodeToString(raw), lastBits(genuine))
	other := openDesk(t, openStore(t), func(o *approval.Options) { o.Key = hmac.Key(strings.Repeat("k", 32)) })
	for _, h := range forged {
		if o := tap(t, d, alice, h, ""); o.Kind != approval.NotFound {
			t.Errorf("%q: %+v", h, o)
		}
	}
	if o := tap(t, other, alice, card.Handle(approval.AllowOnce), ""); o.Kind != approval.NotFound {
		t.Errorf("another server takes the button: %+v", o)
	}
	tap(t, d, alice, card.Handle(approval.DenyCall), "")
}

// lastBits sets bits that base64 leaves unused: the same bytes, another text.
func lastBits(h string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return h[:len(h)-1] + string(alphabet[strings.IndexByte(alphabet, h[len(h)-1])^1])
}

func TestH39WhatIsNotFullyVisibleTakesNoSingleTap(t *testing.T) {
	for name, visible := range map[string]func(*approval.Ask) bool{"nobody knows": nil, "hidden": func(*approval.Ask) bool { return false }} {
		t.Run(name, func(t *testing.T) {
			d, c := withChat(t, func(o *approval.Options) { o.Visible = visible })
			ruling := ask(t, d, nil)
			card := c.card(t)
			for _, a := range []approval.Action{approval.AllowOnce, approval.AllowMinutes, approval.AllowExactly} {
				if o := tap(t, d, alice, card.Handle(a), ""); o.Kind != approval.Misunderstood {
					t.Errorf("%c: %+v", a, o)
				}
			}
			if o := tap(t, d, alice, card.Handle(approval.AllowSeen), ""); o.Kind != approval.Counted {
				t.Errorf("from the details: %+v", o)
			}
			if r := <-ruling; !r.Yes {
				t.Errorf("the ruling: %+v", r)
			}
		})
	}
}

func TestTheFirstOfTwoApprovalsIsShownAndTheButtonsStay(t *testing.T) {
	d, c := withChat(t, func(o *approval.Options) { o.Terms.Approvals = 2 })
	ruling := ask(t, d, nil)
	card := c.card(t)
	tap(t, d, alice, card.Handle(approval.AllowOnce), "")
	if o := c.shows(t); o.State != approval.Open || !strings.Contains(o.Text, "1 of 2") {
		t.Errorf("after one: %+v", o)
	}
	if o := tap(t, d, alice, card.Handle(approval.AllowOnce), ""); o.Kind != approval.Misunderstood {
		t.Errorf("the same person again: %+v", o)
	}
	tap(t, d, bob, card.Handle(approval.AllowOnce), "")
	if o := c.shows(t); o.State != approval.Allowed {
		t.Errorf("after two: %+v", o)
	}
	if r := <-ruling; !r.Yes {
		t.Errorf("the ruling: %+v", r)
	}
}

func TestH43AHungChannelHoldsNoOtherUp(t *testing.T) {
	c, hung := newChat(), newChat()
	hung.hang = true
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"a": hung, "b": c, "c": hung, "d": hung}
	})
	ask(t, d, nil)
	card := c.card(t)
	for range 3 {
		hung.card(t)
	}
	began := time.Now()
	tap(t, d, alice, card.Handle(approval.AllowOnce), "")
	c.shows(t)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the working channel was edited after %v", took)
	}
}

func FuzzHandle(f *testing.F) {
	d, c := withChat(f, nil)
	ask(f, d, nil)
	card := c.card(f)
	f.Add(card.Handle(approval.AllowOnce))
	f.Add("")
	f.Fuzz(func(t *testing.T, h string) {
		if o := tap(t, d, bob, h, ""); o.Kind == approval.Counted && h != card.Handle(approval.AllowOnce) {
			t.Fatalf("%q: %+v", h, o)
		}
	})
}

// mute is a chat that shows a card and never says so.
type mute struct{ *chat }

func (c mute) Send(ctx context.Context, k *approval.Card) (string, error) {
	c.sent <- k
	<-ctx.Done()
	return "", ctx.Err()
}

func TestAnAnswerBeforeTheSendHasReturnedReleasesTheCallAndStands(t *testing.T) {
	c := mute{newChat()}
	d := openDesk(t, openStore(t), func(o *approval.Options) {
		o.Channels, o.Inbox = map[string]approval.Channel{"chat": c}, false
	})
	began := time.Now()
	ruling := ask(t, d, nil)
	card := c.card(t)
	tap(t, d, alice, card.Handle(approval.AllowOnce), "")
	if r := <-ruling; !r.Yes || time.Since(began) > 5*time.Second {
		t.Errorf("%+v after %v", r, time.Since(began))
	}
	d.Stop() // the send fails now
	if o := tap(t, d, bob, card.Handle(approval.DenyCall), ""); o.State != approval.Allowed {
		t.Errorf("afterwards: %+v", o)
	}
}
