package telegram_test

import (
	"context"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// A tap that did not count is told in a window that has to be closed; one that
// counted needs none.
func TestATapThatDidNotCountIsToldByAnAlert(t *testing.T) {
	for kind, want := range map[approval.Kind]bool{approval.TooLate: true, approval.Unauthorised: true, approval.Counted: false} {
		s := telegramtest.New(t, token)
		ch := open(t, config(s), delivery.Deps{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- ch.Listen(ctx, func(context.Context, approval.Answer) (approval.Outcome, error) {
				return approval.Outcome{Kind: kind, Text: "the truth"}, nil
			})
		}()
		told, err := s.Tap(t.Context(), telegramtest.Person{ID: 1001, Name: "Alice"}, group, 1, "a-handle")
		if err != nil || told.Text != "the truth" || told.Alert != want {
			t.Errorf("%v: told %+v, %v", kind, told, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
