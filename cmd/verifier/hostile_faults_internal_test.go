//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// inTime is what a deny may take while the store is in trouble: 500 ms, and as
// much again for the race detector on a busy machine.
const inTime = time.Second

// trouble is a way for Redis to fail under a running gateway.
type trouble struct {
	strike, heal func(s *redistest.Server)
	loses        bool // what it held is gone afterwards
	reads        bool // it still answers questions
}

func troubles() map[string]trouble {
	ctx := context.Background()
	return map[string]trouble{
		"refused": {strike: (*redistest.Server).Stop, heal: (*redistest.Server).Begin, loses: true},
		"hung": {
			strike: func(s *redistest.Server) { s.Signal(syscall.SIGSTOP) },
			heal:   func(s *redistest.Server) { s.Signal(syscall.SIGCONT) },
		},
		"read-only": {
			strike: func(s *redistest.Server) { s.Admin.ReplicaOf(ctx, "127.0.0.1", "1") },
			heal:   func(s *redistest.Server) { s.Admin.ReplicaOf(ctx, "NO", "ONE") },
			reads:  true,
		},
		"out of memory": {
			strike: func(s *redistest.Server) { s.Config("maxmemory-policy", "noeviction", "maxmemory", "1") },
			heal:   func(s *redistest.Server) { s.Config("maxmemory", "0") },
			reads:  true,
		},
	}
}

// denied says that a call must be denied in time, by the store's fault.
func (r *rig) denied(c call) time.Duration {
	r.t.Helper()
	a := r.deny(c)
	if a.took > inTime || a.Ref != "" || !strings.Contains(a.Reason, "store") {
		r.t.Errorf("%s got %s after %v", c.tool, a.raw, a.took)
	}
	return a.took
}

func TestH42ARedisInTroubleIsADenyInTimeAndRecoversByItself(t *testing.T) {
	for name, f := range troubles() {
		t.Run(name, func(t *testing.T) {
			r := newFaultyRig(t, nil)
			r.allow(sh("date", ownerIn("clean")))
			r.allow(fetch(ownerIn("tainted")))
			f.strike(r.redis)
			var slowest atomic.Int64
			var wg sync.WaitGroup
			for i := range 32 {
				wg.Go(func() {
					c := []call{
						sh("date", ownerIn("clean")), fetch(ownerIn("new")), sh("date", ownerIn("tainted")),
						sh("date", spawned("subagent:x", "clean")), sh("date", ownerIn("new")),
						{tool: "exec", context: map[string]any{"sessionKey": "agent:main:cron:j:run:1", "trigger": "cron"}},
						{tool: "sessions_history", params: `{"sessionKey":"agent:main:tainted"}`, context: ownerIn("new")},
						{tool: "read", params: `{"path":"x"}`},
					}[i%8]
					slowest.Store(max(slowest.Load(), int64(r.denied(c))))
				})
			}
			wg.Wait()
			t.Logf("the slowest of 32 at once was denied after %v", time.Duration(slowest.Load()))
			t.Logf("alone: %v", r.denied(sh("date", ownerIn("clean"))))
			if status, text := r.ready(); !f.reads && (status != http.StatusServiceUnavailable || !strings.Contains(text, "store: ")) {
				t.Errorf("ready says %d %s", status, text)
			}
			f.heal(r.redis)
			eventuallyDecides(r)
			r.mustAsk(sh("date", ownerIn("tainted")))
			if f.loses {
				r.mustAsk(sh("date", ownerIn("clean")))
			} else {
				r.allow(sh("date", ownerIn("clean")))
			}
			redistest.Eventually(t, "ready again", func() bool {
				status, _ := r.ready()
				return status == http.StatusOK
			})
		})
	}
}

func TestH42AStoreThatDiesWhileACallIsHeldDeniesIt(t *testing.T) {
	for name, f := range troubles() { // beside each other, and beside nothing else: each waits for most of its time
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const hold = time.Second
			r := newFaultyRig(t, func(c *config.Config) { c.Webhook.Hold = hold })
			held := r.hold(sh("date", unvouched("m")))
			card := r.waits()
			f.strike(r.redis)
			if v := r.approve(card.Ref, 30); v.Kind == "counted" || v.status != http.StatusServiceUnavailable {
				t.Errorf("a yes that can't be kept is told %+v", v)
			}
			a := <-held
			if a.status != http.StatusOK || a.Decision != "deny" || a.took > hold+2*inTime {
				t.Errorf("the held call got %d %s after %v", a.status, a.raw, a.took)
			}
			f.heal(r.redis)
			eventuallyDecides(r)
			r.mustAsk(sh("date", unvouched("m"))) // no yes appears from the failed one
			if f.loses {
				return
			}
			if v := r.approve(card.Ref, 0); v.Kind != "counted" {
				t.Errorf("a yes after it is over is told %+v", v)
			}
			// The request that waited could not be taken off the card, so that
			// the yes is kept for it for a moment.
			redistest.Eventually(t, "an identical retry passes", func() bool {
				return r.send(impatient(sh("date", unvouched("m")))).allowed()
			})
			r.mustAsk(sh("date", unvouched("m")))
		})
	}
}

// torn is a store whose commit of an allow does its work and then seems to
// fail, as when the connection breaks before the answer comes.
type torn struct {
	backend
	on atomic.Bool
}

func (s *torn) Settle(ctx context.Context, in session.Settlement) (session.Settled, error) {
	out, err := s.backend.Settle(ctx, in)
	if s.on.Load() {
		return session.Settled{}, errors.New("connection reset")
	}
	return out, err
}

func (s *torn) Admit(ctx context.Context, in session.Admission) (session.View, error) {
	out, err := s.backend.Admit(ctx, in)
	if s.on.Load() && out.Entry == session.Passed {
		return session.View{}, errors.New("connection reset")
	}
	return out, err
}

func TestH42AnAllowWhoseCommitIsUncertainIsADenyAndTheSameRequestMayPassLater(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		store := &torn{}
		r.allow(sh("date", ownerIn("first"))) // by then the store has met the gateway
		r.restartBehind(func(b backend, l recordLog) (backend, recordLog) {
			store.backend = b
			return store, l
		})
		store.on.Store(true)
		read := call{tool: "web_fetch", params: `{"url":"https://example.com"}`, context: ownerIn("m"), id: "fetch"}
		read.at = time.Now()
		r.denied(read)
		c := sh("date", unvouched("m"))
		c.id, c.at = "held", time.Now()
		held := r.hold(c)
		r.approve(r.waits().Ref, 0)
		if a := <-held; a.status != http.StatusOK || a.allowed() {
			t.Errorf("got %d %s", a.status, a.raw)
		}
		store.on.Store(false)
		r.mustAsk(sh("date", ownerIn("m"))) // the fetch has tainted, though it was denied
		r.allow(read)
		r.allow(c)                            // the same request: its yes was used for it
		r.mustAsk(sh("date", unvouched("m"))) // and for no other
	})
}

// smallDisk mounts a file system that is soon full.
func smallDisk(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs root on Linux to mount a small tmpfs; CI is root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted here, as in CI it can: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", dir).Run() })
	return dir
}

func TestH46AFullDiskIsADenyAndHealthTurnsRedUntilThereIsSpace(t *testing.T) {
	disk := smallDisk(t)
	n := 0
	onBoth(t, func(c *config.Config) {
		n++
		c.Audit.Path = filepath.Join(disk, fmt.Sprintf("record-%d.jsonl", n))
	}, func(t *testing.T, r *rig) {
		held := r.hold(sh("ls", unvouched("held")))
		card := r.waits()
		ballast := filepath.Join(disk, "ballast")
		fill(t, ballast)
		var received []string
		full := false
		for i := 0; i < 100 && !full; i++ {
			c := call{tool: "read", params: `{"path":"x"}`, context: ownerIn("m"), id: fmt.Sprintf("%s-%d", t.Name(), i)}
			if a := r.send(c); a.allowed() {
				received = append(received, c.id)
			} else if full = true; a.status != http.StatusOK || !strings.Contains(a.Reason, "record") {
				t.Errorf("got %d %s", a.status, a.raw)
			}
		}
		if status, text := r.ready(); !full || status != http.StatusServiceUnavailable || !strings.Contains(text, "record: ") {
			t.Errorf("full: %v, ready says %d %s", full, status, text)
		}
		r.deny(fetch(ownerIn("m")))
		r.deny(sh("date", ownerIn("m")))
		r.deny(sh("date", unvouched("new")))
		if got := r.pending(); len(got) != 1 {
			t.Errorf("%d questions wait: one that can't be recorded was put", len(got))
		}
		r.approve(card.Ref, 0)
		if a := <-held; a.status != http.StatusOK || a.allowed() {
			t.Errorf("a yes while nothing can be recorded: %d %s", a.status, a.raw)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		r.mustAsk(sh("date", ownerIn("m"))) // the fetch that was denied has tainted all the same
		r.allow(call{tool: "read", params: `{"path":"x"}`, context: ownerIn("m")})
		if status, text := r.ready(); status != http.StatusOK {
			t.Errorf("ready says %d %s with space again", status, text)
		}
		r.quit()
		r.soundRecord()
		r.holdsAllows(received...)
	})
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// holdsAllows says that the record must hold an allow for each request.
func (r *rig) holdsAllows(ids ...string) {
	r.t.Helper()
	allowed := map[string]bool{}
	for _, e := range r.decided() {
		if e.Decision == audit.Allow {
			allowed[e.RequestID] = true
		}
	}
	for _, id := range ids {
		if !allowed[id] {
			r.t.Errorf("%s was allowed, and the record does not say so", id)
		}
	}
}
