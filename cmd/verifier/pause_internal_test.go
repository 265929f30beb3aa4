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
)

func TestAPauseIsSeenByEveryReplica(t *testing.T) {
	t.Parallel()
	r := newRedisRig(t, nil)
	r.reply(".pause")
	replica := r.replica()
	replica.deny(sh("date", ownerIn("other")))
	replica.reply(".resume")
	r.allow(sh("date", ownerIn("main")))
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
