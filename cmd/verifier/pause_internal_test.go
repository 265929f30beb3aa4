package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

func TestAPauseStopsEverythingButWhatIsHarmless(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		harmless := call{tool: "read", params: `{"path":"x"}`, context: main}
		r.allow(sh("date", main))
		if v := r.reply(".pause"); v.Kind != "told" || !strings.Contains(v.Text, "All agents paused by owner") {
			t.Fatalf("told %+v", v)
		}
		for _, c := range []call{
			sh("date", main), sh("date", ownerIn("never-seen-before")), sh("date", map[string]any{}), fetch(main),
			{tool: "message", params: `{"text":"x"}`, context: main}, {tool: "gateway", params: `{}`, context: main},
		} {
			if a := r.deny(c); !strings.Contains(a.Reason, "paused") || a.Ref != "" {
				t.Errorf("%s in %v: %s", c.tool, c.context, a.raw)
			}
		}
		if len(r.pending()) != 0 {
			t.Error("a paused agent put a question")
		}
		r.allow(harmless)
		if last := r.decided(); last[len(last)-2].Error != "paused" || last[len(last)-2].Mode != "restrict" {
			t.Errorf("the record says %+v", last[len(last)-2])
		}
		if v := r.reply(".pending"); !strings.Contains(v.Text, "PAUSED: All agents, by owner since") {
			t.Errorf("pending says %q", v.Text)
		}
		if page := r.page("/metrics"); !strings.Contains(page, "verifier_paused 1\n") {
			t.Error("the metrics do not show the pause")
		}
		redistest.Eventually(t, "everybody is told", func() bool { return strings.Contains(r.screen.String(), "All agents paused by owner") })
		r.reply(".resume")
		r.allow(sh("date", main))
		r.mustAsk(sh("date", unvouched("asked-as-before")))
		for _, kind := range []string{`"kind":"pause"`, `"kind":"resume"`} {
			if !strings.Contains(r.record(), kind) {
				t.Errorf("the record has no %s", kind)
			}
		}
	})
}

func TestAPauseOfOneAgentBindsItAndWhoeverNamesNone(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		other := map[string]any{"sessionKey": "agent:other:main", "senderId": "1", "senderIsOwner": true}
		unnamed := map[string]any{"sessionKey": "main", "senderId": "1", "senderIsOwner": true}
		for _, ctx := range []map[string]any{ownerIn("main"), other, unnamed} {
			r.allow(sh("date", ctx))
		}
		r.reply(".pause Main")
		r.reply(".pause third")
		for _, ctx := range []map[string]any{ownerIn("main"), with(ownerIn("main"), "agentId", "MAIN", "sessionKey", "x"), unnamed} {
			r.deny(sh("date", ctx))
		}
		r.allow(sh("date", other))
		r.reply(".resume main")
		r.allow(sh("date", ownerIn("main")))
		if a := r.deny(sh("date", unnamed)); !strings.Contains(a.Reason, "paused") {
			t.Errorf("while any agent is paused, a call that names none got %s", a.raw)
		}
		r.reply(".resume third")
		r.allow(sh("date", unnamed))
		r.reply(".pause")
		if v := r.reply(".resume main"); !strings.Contains(v.Text, "A pause of all agents still holds") {
			t.Errorf("told %+v", v)
		}
		r.deny(sh("date", ownerIn("main")))
		r.reply(".resume")
		r.allow(sh("date", ownerIn("main")))
	})
}

// Only a restrict, a pause or a blocked turn overturns a person's yes.
func TestAPauseOverturnsAYesAndEndsTheWait(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(sh("date", unvouched("x")))
		card := r.waits()
		r.reply(".pause main")
		if a := <-held; a.allowed() || !strings.Contains(a.Reason, "paused") {
			t.Errorf("who waited got %s", a.raw)
		}
		if v := r.approve(card.Ref, 30); v.State != "approved" || !strings.Contains(v.Text, "The agent is paused") {
			t.Errorf("the approver is told %+v", v)
		}
		if a := r.deny(sh("date", unvouched("x"))); !strings.Contains(a.Reason, "paused") {
			t.Errorf("after a yes: %s", a.raw)
		}
		if a := r.deny(sh("date -u", unvouched("x"))); !strings.Contains(a.Reason, "paused") {
			t.Errorf("under a grant: %s", a.raw)
		}
		r.reply(".resume")
		r.allow(sh("date -u", unvouched("x")))
	})
}

func TestAPauseSurvivesARestartAndIsSeenByEveryReplica(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.reply(".pause")
		r.restart()
		r.deny(sh("date", ownerIn("main")))
		if r.redis == nil {
			return
		}
		replica := r.replica()
		replica.deny(sh("date", ownerIn("other")))
		replica.reply(".resume")
		r.allow(sh("date", ownerIn("main")))
	})
}

// replica is a second gateway on the same Redis, with the same key.
func (r *rig) replica() *rig {
	r.t.Helper()
	key, err := r.state.ServerKey()
	if err != nil {
		r.t.Fatal(err)
	}
	return newRig(r.t, func(c *config.Config) {
		*c = *r.cfg
		c.Store.Key = config.NewSecret(string(key))
	})
}

// Whoever writes to the store may pause, and can't take a pause back.
func TestH30APauseTakenOutOfTheStoreStillHolds(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		r.reply(".pause main")
		r.reply(".resume")
		older := r.pausesByHand()
		r.reply(".pause main")
		r.deny(sh("date", main))
		for what, words := range map[string]map[string]string{"taken out": nil, "an older lift": older} {
			r.writePauses(words)
			if a := r.deny(sh("date", main)); !strings.Contains(a.Reason, "paused") {
				t.Errorf("%s: got %s", what, a.raw)
			}
			r.writePauses(words)
			r.restart()
			if a := r.deny(sh("date", main)); !strings.Contains(a.Reason, "paused") {
				t.Errorf("%s, after a restart: got %s", what, a.raw)
			}
		}
		if !strings.Contains(r.log.String(), "someone else writes to the store") || !strings.Contains(r.record(), "without the owner's word") {
			t.Error("nobody is told of it")
		}
		r.reply(".resume")
		r.allow(sh("date", main))
		r.writePauses(map[string]string{"*": "1|lifted||00"})
		if a := r.deny(sh("date", main)); !strings.Contains(a.Reason, "paused") {
			t.Errorf("what nobody sealed is no pause: %s", a.raw)
		}
		r.reply(".resume")
		r.allow(sh("date", main))
	})
}

// pausesByHand is what the store holds about pauses.
func (r *rig) pausesByHand() map[string]string {
	r.t.Helper()
	words, err := r.g.store.Pauses(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return words
}

// writePauses replaces it, as someone with a client of the store would.
func (r *rig) writePauses(words map[string]string) {
	r.t.Helper()
	data, err := json.Marshal(words)
	if err != nil {
		r.t.Fatal(err)
	}
	for n := range 256 {
		if r.redis == nil {
			r.byHand(`INSERT OR REPLACE INTO records (key, version, data, count, until_ms) VALUES (?, randomblob(8), ?, 0, 0)`, fmt.Sprintf("%02x:pauses", n), data)
			continue
		}
		key := fmt.Sprintf("v2:{%02x}:pauses", n)
		if err := r.redis.Admin.Set(context.Background(), key, rand.Text()[:8]+"0:"+string(data), 0).Err(); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestADamagedFileOfPausesDoesNotStart(t *testing.T) {
	t.Parallel()
	r := cold(t, nil)
	if err := os.WriteFile(filepath.Join(r.state.Dir(), "pauses"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := loopback()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := launch(r.cfg, r.state, l, r.screen, r.log, nil); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAPauseEndsIsRecordedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(sh("date", with(unvouched("x"), "runId", "run "+token)))
		r.waits()
		r.reply(".pause main")
		if a := <-held; a.allowed() {
			t.Errorf("who waited got %s", a.raw)
		}
		if text := r.record(); strings.Contains(text, token) || !strings.Contains(text, `"error":"paused"`) {
			t.Errorf("the record says\n%s", text)
		}
	})
}
