package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// A question with one approver and one chat costs at most seven trips to Redis, from the call to its release, once
// everything is warm. What the gateway does beside, once a second, is in some of the questions and not in all.
func TestAQuestionTakesSevenTripsToTheStore(t *testing.T) {
	redis, tg := redistest.Start(t), telegramtest.New(t, botToken)
	g := meet(t, gateway.Start(t, fmt.Sprintf(`
ownerToken: %s
webhook: {secret: %s, hold: 30s, maxHold: 30s}
store: {url: %q}
approvers: [{name: owner, telegram: 1001}]
channels: {telegram: {botToken: %q, chatId: 1001, apiUrl: %q}}
`, sharedToken, sharedSecret, redis.URL(), botToken, tg.URL())))
	reads := func() (n int) {
		stats := redis.Admin.Info(t.Context(), "stats").Val()
		_, after, _ := strings.Cut(stats, "total_reads_processed:")
		if _, err := fmt.Sscan(after, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const most = 7
	fewest := 1000
	for i := range 20 {
		command := fmt.Sprint("make trip-", i)
		before := reads()
		held := g.Hold(gateway.Sh(command, unvouched("m")))
		tapOnce(t, tg, command)
		if a := <-held; !a.Allowed() {
			t.Fatal(a.Raw)
		}
		fewest = min(fewest, reads()-before-1) // without the second look itself
	}
	if fewest > most {
		t.Errorf("a question takes %d trips, not %d", fewest, most)
	}
	t.Logf("%d trips", fewest)
}
