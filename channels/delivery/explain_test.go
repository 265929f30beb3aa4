package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

func TestWhatAPlatformSaysIsShortAndHoldsNoSecret(t *testing.T) {
	const secret = "123:planted"
	err := delivery.Explain(errOfTheirs, "chat: send", strings.Repeat("x", 297)+secret+strings.Repeat("y", 1000)+"\xff", "", secret)
	if want := "chat: send: " + strings.Repeat("x", 297) + "[se…"; err.Error() != want || !errors.Is(err, errOfTheirs) {
		t.Errorf("got %q", err)
	}
	if err := delivery.Explain(nil, "chat: send", "words"); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

var errOfTheirs = errors.New("theirs")

// What someone panicked with may be a request, and its address a token.
func TestH29AListenersPanicIsNotQuoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, health := make(lines, 10), &delivery.Health{}
		ctx, cancel := context.WithCancel(t.Context())
		delivery.Keep(ctx, slog.New(slog.NewTextHandler(log, nil)), health, func(context.Context) error {
			if health.Err() != nil { // the second time
				cancel()
			}
			panic("https://host/bot123:planted/getUpdates")
		})
		said := <-log + health.Err().Error()
		if strings.Contains(said, "planted") || !strings.Contains(said, "panic with a string in ") {
			t.Errorf("said %s", said)
		}
	})
}
