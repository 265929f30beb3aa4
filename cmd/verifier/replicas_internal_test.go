package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// replicaConfig is what two gateways share: all but the state directory.
const replicaConfig = `listen: 127.0.0.1:0
ownerToken: 3f6c0b5a9d7e41c2a8b1d4e7
webhook: {secret: 51b7f0c39ae24d68b2c7, hold: 30s, maxHold: 30s}
store: {url: %q, key: 9a6e3c1f08d7425bb2640f5c1d7e93ab}
approvers: [{name: owner, telegram: 1001, ids: ["token:owner"]}]
channels:
  telegram: {botToken: %q, chatId: 1001, apiUrl: %q}
`

// replica is a gateway from the real binary, with a client of its own.
type replica struct {
	*program
	*rig
	t    *testing.T
	file string
}

// replicas are gateways on one Redis and one bot, of which the first has the
// bot's lease.
func replicas(t *testing.T) (chat *telegramtest.Server, both [2]*replica) {
	t.Helper()
	redis := redistest.Start(t, "--appendonly", "yes")
	chat = telegramtest.New(t, botToken)
	for i := range both {
		p := &program{t: t, dir: t.TempDir()}
		both[i] = &replica{t: t, program: p, rig: &rig{t: t, secret: "51b7f0c39ae24d68b2c7", token: "3f6c0b5a9d7e41c2a8b1d4e7", log: &p.err}}
		both[i].file = p.write("verifier.yaml", fmt.Sprintf(replicaConfig, redis.URL(), botToken, chat.URL()))
		both[i].begin()
		if i == 0 {
			waitFor(t, "the first listens", func() bool { return slices.Contains(chat.Calls(), "getUpdates") })
		}
	}
	return chat, both
}

// begin starts it, and waits until calls can be decided and shown.
func (r *replica) begin() {
	r.t.Helper()
	r.out = output{}
	r.url = r.serve(r.file)
	untilReady(r.t, r.rig)
}

// kill ends it as kill -9 does.
func (r *replica) kill() {
	_ = r.background.Process.Kill()
	_ = r.background.Wait()
	r.background = nil
}

// cardAbout waits for the card that shows a command.
func cardAbout(t *testing.T, chat *telegramtest.Server, command string) (found telegramtest.Message) {
	t.Helper()
	waitFor(t, "a card shows "+command, func() bool {
		for _, m := range chat.Messages() {
			if strings.Contains(m.Text, command) && len(m.Buttons) > 0 {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func TestAnyReplicaMayHoldAndAnyMayTakeTheTap(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	for i, holds := range both { // one of them listens to the bot, and it is the first
		command := fmt.Sprint("echo tapped-", i)
		held := holds.hold(sh(command, unvouched("m")))
		tapOn(t, chat, cardAbout(t, chat, command), "Allow once")
		if a := <-held; !a.allowed() {
			t.Errorf("gateway %d: a tap gave %s", i, a.raw)
		}
		command = fmt.Sprint("echo answered-", i)
		held = holds.hold(sh(command, unvouched("m")))
		cardAbout(t, chat, command)
		if v := both[1-i].approve(both[1-i].waits().Ref, 0); v.State != "approved" {
			t.Errorf("the other is told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("gateway %d: an answer at the other gave %s", i, a.raw)
		}
	}
	// What one has let through the other knows.
	c := sh("echo again", unvouched("m"))
	c.id, c.at = "again", time.Now()
	held := both[0].hold(c)
	tapOn(t, chat, cardAbout(t, chat, "echo again"), "Allow once")
	if a := <-held; !a.allowed() {
		t.Fatal(a.raw)
	}
	both[1].allow(c)
	both[1].mustAsk(sh("echo again", unvouched("m")))
}

func TestAListenersLeaseMovesWithinTenSecondsOfADeath(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	held := both[1].hold(sh("echo orphan", unvouched("m")))
	m := cardAbout(t, chat, "echo orphan")
	both[0].kill()
	died := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	go chat.Tap(ctx, telegramtest.Person{ID: 1001, Name: "Owner"}, m.Chat, m.ID, m.Buttons[0][0].Data) //nolint:errcheck // what comes of it is seen below
	a := <-held                                                                                        // a second listener has taken the tap
	if took := time.Since(died); !a.allowed() || took > 10*time.Second {
		t.Errorf("got %s %v after the death of who listened", a.raw, took)
	}
}

// A gateway that holds a call is killed. The owner says yes, and the runtime sends
// the call to another gateway at once, which can't know that the first is dead.
func TestH156AfterKill9AYesThatWaitsIsTakenAtAnotherReplica(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	c := sh("echo moved", unvouched("m"))
	held := both[0].hold(c)
	cardAbout(t, chat, "echo moved")
	ref := both[1].waits().Ref
	both[0].kill()
	<-held
	if v := both[1].approve(ref, 0); v.Kind != "counted" {
		t.Fatalf("the owner's yes is told %+v", v)
	}
	if a := both[1].send(c); !a.allowed() {
		t.Errorf("the identical call got %s", a.raw)
	}
	both[1].mustAsk(c) // once is once
}

func TestARollingRestartLosesNoOpenQuestion(t *testing.T) {
	t.Parallel()
	chat, both := replicas(t)
	c := sh("echo kept", unvouched("m"))
	held := both[0].hold(c)
	m := cardAbout(t, chat, "echo kept")
	for i, r := range both {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			r.stop()
		}()
		if i == 0 {
			if a := <-held; a.status != http.StatusOK || a.Decision != "deny" || a.Ref == "" {
				t.Errorf("who waited got %d %s", a.status, a.raw)
			}
		}
		<-stopped
		// Meanwhile the other answers.
		both[1-i].allow(call{tool: "read", params: `{"path":"x"}`, context: ownerIn("w")})
		r.begin()
	}
	tapOn(t, chat, m, "Allow once")
	both[1].allow(c)
	both[0].mustAsk(c) // once is once, at either
}
