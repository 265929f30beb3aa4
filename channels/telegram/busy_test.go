package telegram_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// TestABusyChatShowsWhatFollowsATapFirst: a chat has taken what it takes at once, fifteen cards are to be changed, and old cards are tapped.
// The details after a tap on a live card are the next message there.
func TestABusyChatShowsWhatFollowsATapFirst(t *testing.T) {
	t.Parallel()
	const cards = 20 // that a chat takes at once
	s := telegramtest.New(t, token)
	c := config(s)
	c.ChatID = "1001"
	ch := open(t, c, delivery.Deps{})
	card := channeltest.Fixtures()[0].Card
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- ch.Listen(ctx, func(_ context.Context, a approval.Answer) (approval.Outcome, error) {
			if a.Handle == "live" {
				return approval.Outcome{Kind: approval.Shown, Card: card}, nil
			}
			return approval.Outcome{Kind: approval.TooLate, Text: "too late", Card: card, State: approval.Denied}, nil
		})
	}()
	var at string
	var err error
	for range cards {
		if at, err = ch.Send(ctx, card); err != nil {
			t.Fatal(err)
		}
	}
	tap := func(handle string) {
		if _, err := s.Tap(ctx, alice, 1001, s.Messages()[0].ID, handle); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}
	var others sync.WaitGroup
	for range 15 {
		others.Go(func() { _ = ch.Settle(ctx, at, card, approval.Outcome{State: approval.Denied}) }) // its time may be over first
	}
	for range delivery.MaxWorkers {
		others.Go(func() { tap("old") })
	}
	eventually(t, "an edit waits for its turn", func() bool { return slices.Contains(s.Calls(), "editMessageText") })
	began := time.Now()
	tap("live")
	eventually(t, "the details are sent", func() bool {
		sent := slices.DeleteFunc(s.Calls(), func(method string) bool { return method != "sendMessage" })
		return len(sent) > cards
	})
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the details came after %v", took)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	others.Wait()
}
