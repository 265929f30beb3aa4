package telegram_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram"
)

// The server writes no answer to a hook after 40 seconds: Telegram would send an update again that was taken.
func TestAnUpdateThatFindsNoWorkerIsSentAgainByTelegram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := open(t, telegram.Config{
			BotToken: token, ChatID: "1001", APIURL: "http://127.0.0.1:1", Webhook: &telegram.Webhook{URL: "https://x.example/hooks/telegram", Secret: secret},
		}, delivery.Deps{})
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() {
			stopped <- ch.Listen(ctx, func(ctx context.Context, _ approval.Answer) (approval.Outcome, error) {
				<-ctx.Done() // the store hangs
				return approval.Outcome{}, ctx.Err()
			})
		}()
		synctest.Wait()
		_, hook := ch.Hook()
		var all sync.WaitGroup
		var mu sync.Mutex
		statuses := make(map[int]int)
		for i := range 3 * delivery.MaxWorkers {
			all.Go(func() {
				began, w := time.Now(), httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/telegram", strings.NewReader(fmt.Sprintf(
					`{"update_id":%d,"message":{"message_id":1,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"is_bot":false,"first_name":"A"},"text":".pending"}}`, i)))
				r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
				hook.ServeHTTP(w, r)
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("%d after %s", w.Code, took)
				}
				mu.Lock()
				defer mu.Unlock()
				statuses[w.Code]++
			})
		}
		all.Wait()
		if statuses[http.StatusOK] != delivery.MaxWorkers || statuses[http.StatusServiceUnavailable] != 2*delivery.MaxWorkers {
			t.Errorf("answered with %v", statuses)
		}
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}
