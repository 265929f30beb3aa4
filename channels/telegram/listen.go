package telegram

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

var allowedUpdates = bot.AllowedUpdates{"message", "callback_query"}

// Listen passes on what people answer until ctx ends. It comes back by itself.
func (ch *Channel) Listen(ctx context.Context, answer delivery.AnswerFunc) error {
	defer ch.Listener.Listen(ctx, answer)()
	delivery.Keep(ctx, ch.Log, ch.Faults, ch.poll)
	return nil
}

// poll asks for updates, where no other instance does. They are confirmed once
// they are being worked on: what comes while all workers are busy waits at
// Telegram.
func (ch *Channel) poll(ctx context.Context) error {
	return ch.Lead(ctx, fmt.Sprintf("%s:%d", Name, ch.api.ID()), func(ctx context.Context) error {
		var busy sync.WaitGroup
		defer busy.Wait() // another gateway gets the lease after what was begun here
		b, err := ch.newBot(bot.WithUpdatesChannelCap(0), bot.WithNotAsyncHandlers(), bot.WithDefaultHandler(func(ctx context.Context, _ *bot.Bot, u *models.Update) {
			busy.Add(1)
			taken := ch.Listener.Take(ctx, func(_ context.Context, answer delivery.AnswerFunc) {
				defer busy.Done()
				ctx, cancel := delivery.Outlive(ctx, delivery.HandleTimeout, delivery.StopTimeout) // the lease may end before the desk does
				defer cancel()
				ch.handle(ctx, answer, u)
			})
			if !taken {
				busy.Done()
			}
		}))
		if err != nil {
			return err
		}
		b.Start(ctx)
		return nil
	})
}

// pollFailed logs and notes what goes wrong with polling; the library tries again
// by itself.
func (ch *Channel) pollFailed(err error) {
	err = ch.clean("getUpdates", err)
	if ch.lastFault.Swap(err.Error()) != err.Error() {
		ch.Log.Error("updates don't come; it is tried again", "err", err)
	}
	ch.Faults.Note("listening", err)
}

// heard notes that updates come.
func (ch *Channel) heard() {
	if before, _ := ch.lastFault.Swap("").(string); before != "" {
		ch.Log.Info("updates come again")
	}
	ch.Faults.Note("listening", nil)
}
