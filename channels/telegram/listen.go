package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
)

type answerFunc = func(context.Context, approval.Answer) (approval.Outcome, error)

var allowedUpdates = bot.AllowedUpdates{"message", "callback_query"}

// Listen passes on what people answer until ctx ends. It comes back by itself.
func (ch *Channel) Listen(ctx context.Context, answer answerFunc) error {
	defer ch.listener.listen(answer)()
	run := ch.poll
	if ch.config.Webhook != nil {
		run = ch.subscribe
	}
	delivery.Keep(ctx, ch.deps.Log.With("channel", Name), &ch.health, run)
	return nil
}

// poll asks for updates, where no other instance does. They are confirmed once
// they are being worked on: what comes while all hands are full waits at
// Telegram.
func (ch *Channel) poll(ctx context.Context) error {
	return ch.deps.Lead(ctx, fmt.Sprintf("%s:%d", Name, ch.api.ID()), func(ctx context.Context) error {
		var busy sync.WaitGroup
		defer busy.Wait()
		hands := make(chan struct{}, inFlight)
		b, err := ch.newBot(bot.WithUpdatesChannelCap(0), bot.WithNotAsyncHandlers(), bot.WithDefaultHandler(func(ctx context.Context, _ *bot.Bot, u *models.Update) {
			select {
			case hands <- struct{}{}:
			case <-ctx.Done():
				return
			}
			busy.Go(func() {
				defer func() { <-hands }()
				ch.handle(ctx, u)
			})
		}))
		if err != nil {
			return err
		}
		b.Start(ctx)
		return nil
	})
}

// pollFailed is told what goes wrong with polling; the library tries again by
// itself.
func (ch *Channel) pollFailed(err error) {
	err = ch.clean("getUpdates", err)
	if ch.listener.fault(err) {
		ch.deps.Log.Error("updates don't come; it is tried again", "channel", Name, "err", err)
	}
	ch.health.Note("listening", err)
}

// heard notes that updates come.
func (ch *Channel) heard() {
	if ch.listener.mended() {
		ch.deps.Log.Info("updates come again", "channel", Name)
	}
	ch.health.Note("listening", nil)
}

// subscribe asks Telegram to call us, and waits.
func (ch *Channel) subscribe(ctx context.Context) error {
	w := ch.config.Webhook
	err := ch.call(ctx, ch.line, 0, "setWebhook", func(ctx context.Context) error {
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
	maxUpdate    = 1 << 20 // bytes
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
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	if !ch.listener.open() {
		return http.StatusServiceUnavailable
	}
	var u models.Update
	if json.Unmarshal(withoutForwards(body), &u) != nil {
		// It would come again and again, and hold up all that is behind it.
		ch.deps.Log.Warn("an update can't be read and is skipped", "channel", Name)
		return http.StatusOK
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 25*time.Second)
	defer cancel()
	ch.handle(ctx, &u)
	return http.StatusOK
}

// listener are who is told what people answer, and what was last wrong with hearing
// them.
type listener struct {
	mu     sync.Mutex
	answer answerFunc
	said   string
}

// listen sets who is told, until the returned function is called.
func (e *listener) listen(answer answerFunc) (done func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.answer = nil
	}
}

func (e *listener) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answer != nil
}

var errNotListening = errors.New("telegram: nobody listens any more")

// tell passes an answer on.
func (e *listener) tell(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
	e.mu.Lock()
	answer := e.answer
	e.mu.Unlock()
	if answer == nil {
		return approval.Outcome{Text: "The gateway is stopping. Nothing was approved; try again in a moment."}, errNotListening
	}
	return answer(ctx, a)
}

// fault reports whether this is news.
func (e *listener) fault(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := e.said != err.Error()
	e.said = err.Error()
	return news
}

// mended reports whether something was wrong before.
func (e *listener) mended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.said != ""
	e.said = ""
	return was
}
