package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

const (
	sharedSecret = "51b7f0c39ae24d68b2c7e0a94d13f586"
	sharedToken  = "3f6c0b5a9d7e41c2a8b1d4e70c95f268"
)

// replicas are gateways on one Redis and one bot, with the same keys.
func replicas(t *testing.T) (tg *telegramtest.Server, both [2]*gateway.Gateway) {
	t.Helper()
	redis, tg := redistest.Start(t, "--appendonly", "yes"), telegramtest.New(t, botToken)
	for i := range both {
		g := gateway.Start(t, fmt.Sprintf(`
ownerToken: %s
webhook: {secret: %s, hold: 30s, maxHold: 30s}
store: {url: %q, key: 9a6e3c1f08d7425bb2640f5c1d7e93ab}
approvers: [{name: owner, telegram: 1001, ids: ["token:owner"]}]
channels: {telegram: {botToken: %q, chatId: 1001, apiUrl: %q}}
`, sharedToken, sharedSecret, redis.URL(), botToken, tg.URL()))
		both[i] = meet(t, g)
	}
	return tg, both
}

// meet waits until a replica can decide, and speaks to it with what they share.
func meet(t *testing.T, g *gateway.Gateway) *gateway.Gateway {
	t.Helper()
	g.Secret, g.Token = sharedSecret, sharedToken
	eventually(t, "it is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	return g
}

// tapOnce taps Allow once on the card about a command.
func tapOnce(t *testing.T, tg *telegramtest.Server, command string) {
	t.Helper()
	tap(t, tg, telegramtest.Person{ID: 1001, Name: "Owner"}, message(t, tg, command), "Allow once")
}

// One of them listens to the bot. Any may hold a call, any may take the answer, and what one has let through the
// other knows; so do a pause, and a restart of each in turn with a question open.
func TestAnyReplicaMayHoldAndAnyMayTakeTheAnswer(t *testing.T) {
	t.Parallel()
	tg, both := replicas(t)
	for i, g := range both {
		command := fmt.Sprint("echo tapped-", i)
		held := g.Hold(gateway.Sh(command, unvouched("m")))
		tapOnce(t, tg, command)
		if a := <-held; !a.Allowed() {
			t.Errorf("gateway %d: a tap gave %s", i, a.Raw)
		}
		held = g.Hold(gateway.Sh("echo answered", unvouched("m")))
		if v := both[1-i].Approve(both[1-i].Waits().Ref, 0); v.State != "approved" {
			t.Errorf("the other is told %+v", v)
		}
		if a := <-held; !a.Allowed() {
			t.Errorf("gateway %d: an answer at the other gave %s", i, a.Raw)
		}
	}
	kept := gateway.Sh("echo kept", unvouched("m"))
	held := both[0].Hold(kept)
	both[0].Waits()
	for i, g := range both {
		g.Quit()
		if i == 0 {
			if a := <-held; a.Decision != "deny" || a.Ref == "" {
				t.Errorf("who waited got %s", a.Raw)
			}
		}
		both[1-i].Allow(read("x", gateway.OwnerIn("w"))) // meanwhile the other answers
		g.Begin()
		meet(t, g)
	}
	tapOnce(t, tg, "echo kept")
	both[1].Allow(kept)
	both[0].Ask(kept) // once is once, at either

	// Last, for a yes that comes within two seconds of a pause does not outlast its call.
	both[0].Reply(".pause")
	both[1].Deny(gateway.Sh("date", gateway.OwnerIn("paused")))
	both[1].Reply(".resume")
	both[0].Allow(gateway.Sh("date", gateway.OwnerIn("paused")))
}

// A gateway that holds a call is killed. The owner says yes at another one, which can't know that the first is dead.
func TestH156AfterKill9AYesThatWaitsIsTakenAtAnotherReplica(t *testing.T) {
	t.Parallel()
	_, both := replicas(t)
	c := gateway.Sh("echo moved", unvouched("m"))
	held := both[0].Hold(c)
	ref := both[1].Waits().Ref
	both[0].Kill()
	<-held
	if v := both[1].Approve(ref, 0); v.Kind != "counted" {
		t.Fatalf("the owner's yes is told %+v", v)
	}
	both[1].Allow(c)
	both[1].Ask(c) // once is once
}
