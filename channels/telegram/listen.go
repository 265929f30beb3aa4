package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

var allowedUpdates = bot.AllowedUpdates{"message", "callback_query"}

// Listen passes on what people answer until ctx ends. It comes back by itself.
func (ch *Channel) Listen(ctx context.Context, answer delivery.AnswerFunc) error {
	defer ch.Listener.Listen(ctx, answer)()
	run := ch.poll
	if ch.config.Webhook != nil {
		run = ch.subscribe
	}
	delivery.Keep(ctx, ch.Log, ch.Faults, run)
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

// subscribe asks Telegram to call us, and waits.
func (ch *Channel) subscribe(ctx context.Context) error {
	w := ch.config.Webhook
	err := ch.call(ctx, ch.Line, 0, "setWebhook", func(ctx context.Context) error {
		_, err := ch.api.SetWebhook(ctx, &bot.SetWebhookParams{URL: w.URL, SecretToken: w.Secret, AllowedUpdates: allowedUpdates})
		return err
	})
	if err != nil {
		return err
	}
	ch.heard()
	<-ctx.Done()
	return nil
}

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// hookPatience is how long an update waits for a worker. With the work on it, the answer comes while the server can still write it.
	hookPatience = 10 * time.Second
)

// Hook is where Telegram's calls come in; nil where they don't.
func (ch *Channel) Hook() (path string, h http.Handler) {
	if ch.config.Webhook == nil {
		return "", nil
	}
	want := sha256.Sum256([]byte(ch.config.Webhook.Secret))
	return ch.config.Webhook.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Values(secretHeader)
		var got [sha256.Size]byte
		if len(given) == 1 {
			got = sha256.Sum256([]byte(given[0]))
		}
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			http.Error(w, "The secret token is missing or wrong.", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(ch.take(w, r))
	})
}

// take works on one update. What can't be taken now Telegram sends again.
func (ch *Channel) take(w http.ResponseWriter, r *http.Request) (status int) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	body, status := delivery.ReadRequest(w, r)
	if status != 0 {
		return status
	}
	var u models.Update
	if json.Unmarshal(withoutForwards(body), &u) != nil {
		// It would come again and again, and hold up all that is behind it.
		ch.Log.Warn("an update can't be read and is skipped")
		return http.StatusOK
	}
	waiting, cancel := context.WithTimeout(r.Context(), hookPatience)
	defer cancel()
	done := make(chan struct{})
	taken := ch.Listener.Take(waiting, func(ctx context.Context, answer delivery.AnswerFunc) {
		defer close(done)
		ch.handle(ctx, answer, &u)
	})
	if !taken {
		return http.StatusServiceUnavailable
	}
	<-done
	return http.StatusOK
}
