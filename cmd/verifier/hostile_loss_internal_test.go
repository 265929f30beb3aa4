package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// lose makes the store forget everything while nobody looks.
func (r *rig) lose(how string) {
	r.t.Helper()
	switch how {
	case "flushed":
		if err := r.redis.Admin.FlushAll(context.Background()).Err(); err != nil {
			r.t.Fatal(err)
		}
	case "restarted empty":
		r.redis.Stop()
		r.redis.Begin()
	case "file removed":
		r.quit()
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(r.state.DB() + suffix); err != nil && !os.IsNotExist(err) {
				r.t.Fatal(err)
			}
		}
		r.start()
	}
}

func TestH19ALostStoreIsUntrustedUntilTheLossIsAccepted(t *testing.T) {
	t.Parallel()
	for how, begin := range map[string]func(testing.TB, func(*config.Config)) *rig{
		"flushed": newRedisRig, "restarted empty": newRedisRig, "file removed": newRig,
	} {
		t.Run(how, func(t *testing.T) {
			r := begin(t, nil)
			r.allow(sh("date", ownerIn("seen")))
			r.consented(sh("id", unvouched("granted")), 30)
			r.allow(sh("id -u", unvouched("granted")))
			r.lose(how)
			eventuallyDecides(r)
			r.mustAsk(sh("date", ownerIn("seen")))
			if e := r.last(); e.Level != "untrusted" {
				t.Errorf("what was clean before is at %s", e.Level)
			}
			r.mustAsk(sh("id -g", unvouched("granted")))
			r.mustAsk(sh("date", ownerIn("unseen")))
			r.mustAsk(sh("date", map[string]any{"sessionKey": "agent:main:cron:job:run:1", "trigger": "cron"}))
			r.restart()
			r.mustAsk(sh("date", ownerIn("after-a-restart")))

			r.acceptLoss = true
			r.restart()
			r.acceptLoss = false
			r.allow(sh("date", ownerIn("new")))
			r.mustAsk(sh("id", ownerIn("seen"))) // born in the loss, stays as it is
			r.restart()
			r.allow(sh("date", ownerIn("newer")))
		})
	}
}

// eventuallyDecides waits until the store answers again.
func eventuallyDecides(r *rig) {
	r.t.Helper()
	redistest.Eventually(r.t, "the store answers again", func() bool {
		return r.send(call{tool: "read", params: `{"path":"x"}`, context: ownerIn("probe")}).allowed()
	})
}

// The process still has the file open, so it forgets nothing; the next one
// starts with an empty file.
func TestH19AStoreFileTakenAwayInUseIsSeenAndLostAfterwards(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.allow(fetch(ownerIn("m")))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(r.state.DB() + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if status, text := r.ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "store:") {
		t.Errorf("ready says %d %s", status, text)
	}
	r.mustAsk(sh("date", ownerIn("m")))
	r.restart()
	r.mustAsk(sh("id", ownerIn("m")))
	r.mustAsk(sh("date", ownerIn("n")))
}

func TestH20AConversationWhoseStateVanishedIsUntrusted(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		vanish := func(name string) {
			hash := conversation(name).Hash()
			if r.redis == nil {
				r.byHand(`DELETE FROM records WHERE key = ?`, hash[:2]+":s:"+hash)
				return
			}
			n, err := r.redis.Admin.Del(context.Background(), "v2:{"+hash[:2]+"}:s:"+hash).Result()
			if err != nil || n != 1 {
				t.Fatalf("%d keys deleted, %v", n, err)
			}
		}
		r.allow(sh("date", ownerIn("clean")))
		r.allow(fetch(ownerIn("tainted")))
		r.consented(sh("id -u", ownerIn("tainted")), 30)
		r.allow(sh("date", ownerIn("stays")))

		vanish("clean")
		vanish("tainted")
		r.mustAsk(sh("date", ownerIn("clean")))
		if e := r.last(); e.Level != "untrusted" {
			t.Errorf("it is at %s", e.Level)
		}
		r.mustAsk(sh("id", ownerIn("tainted"))) // the grant has gone with it
		vanish("clean")
		r.restart() // and no process remembers it
		r.mustAsk(sh("id", ownerIn("clean")))
		r.allow(sh("id", ownerIn("stays")))
	})
}
