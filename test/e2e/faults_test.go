//go:build unix

package e2e_test

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
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the store's own driver

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
	"github.com/openclaw-verifier/verifier/test/long"
)

// inTime is what a deny may take while the store is in trouble: 500 ms, and as much again for a busy machine.
const inTime = time.Second

// trouble is a way for Redis to fail under a running gateway.
type trouble struct {
	strike, heal func(s *redistest.Server)
	loses        bool // what it held is gone afterwards
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
		},
		"out of memory": {
			strike: func(s *redistest.Server) { s.Config("maxmemory-policy", "noeviction", "maxmemory", "1") },
			heal:   func(s *redistest.Server) { s.Config("maxmemory", "0") },
		},
	}
}

// decides waits until the store answers again.
func decides(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	eventually(t, "the store answers again", func() bool {
		return g.Send(read("x",
			gateway.OwnerIn("probe"))).Allowed()
	})
}

func TestH42ARedisInTroubleIsADenyInTimeAndRecoversByItself(t *testing.T) {
	t.Parallel()
	long.Only(t, "a real Redis")
	for name, f := range troubles() {
		t.Run(name, func(t *testing.T) {
			g := gateway.StartOnRedis(t, "webhook: {hold: 1s, maxHold: 10s}\n")
			g.Allow(gateway.Sh("date", gateway.OwnerIn("clean")))
			g.Allow(gateway.Fetch(gateway.OwnerIn("tainted")))
			held := g.Later(t.Context(), gateway.Sh("date", unvouched("held")).Body())
			card := g.Waits()
			f.strike(g.Redis)
			denied := func(c gateway.Call) {
				body := c.Body()
				a, err := g.Try(t.Context(), body, g.Sign(body))
				if err != nil || a.Took > inTime || a.Allowed() || !strings.Contains(a.Reason, "store") {
					t.Errorf("%s got %s after %v, %v", c.Tool, a.Raw, a.Took, err)
				}
			}
			together(16, func() {
				denied(gateway.Sh("date", gateway.OwnerIn("clean")))
				denied(gateway.Fetch(gateway.OwnerIn("new")))
			})
			if v := g.Approve(card.Ref, 30); v.Kind == "counted" || v.Status != http.StatusServiceUnavailable {
				t.Errorf("a yes that can't be kept is told %+v", v)
			}
			if a := <-held; a.Status != http.StatusOK || a.Allowed() {
				t.Errorf("the held call got %d %s", a.Status, a.Raw)
			}
			f.heal(g.Redis)
			decides(t, g)
			g.Ask(gateway.Sh("date", gateway.OwnerIn("tainted")))
			g.Ask(gateway.Sh("date", unvouched("held"))) // no yes appears from the failed one
			if f.loses {
				g.Ask(gateway.Sh("date", gateway.OwnerIn("clean")))
			} else {
				g.Allow(gateway.Sh("date", gateway.OwnerIn("clean")))
			}
			eventually(t, "ready again", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
		})
	}
}

// What the store lost is untrusted until the owner accepts the loss (H19), and so is one conversation of which it
// lost all (H20).
func TestH19ALostStoreIsUntrusted(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(g *gateway.Gateway){
		"file removed": func(g *gateway.Gateway) {
			g.Quit()
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(g.State.DB() + suffix) // there may be none
			}
			g.Begin()
		},
		"flushed": func(g *gateway.Gateway) { g.Redis.Admin.FlushAll(context.Background()) },
		"restarted empty": func(g *gateway.Gateway) {
			g.Redis.Stop()
			g.Redis.Begin()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g *gateway.Gateway
			if name == "file removed" {
				g = gateway.Start(t, "")
			} else {
				g = gateway.StartOnRedis(t, "")
			}
			g.Allow(gateway.Sh("date", gateway.OwnerIn("seen")))
			g.Allow(gateway.Fetch(gateway.OwnerIn("granted")))
			g.Consented(gateway.Sh("id", gateway.OwnerIn("granted")), 30)
			g.Allow(gateway.Sh("id -u", gateway.OwnerIn("granted")))
			lose(g)
			decides(t, g)
			g.Ask(gateway.Sh("date", gateway.OwnerIn("seen")))
			g.Ask(gateway.Sh("id -g", gateway.OwnerIn("granted")))
			g.Ask(gateway.Sh("date", gateway.OwnerIn("unseen")))
			if status, text := g.Ready(); status != http.StatusOK || !strings.Contains(text, "loss: ") {
				t.Errorf("%d: %s", status, text)
			}
			g.Restart()
			g.Ask(gateway.Sh("date", gateway.OwnerIn("after-a-restart")))
			g.Quit()
			g.Begin("--accept-loss")
			g.Allow(gateway.Sh("date", gateway.OwnerIn("new")))
			g.Ask(gateway.Sh("id", gateway.OwnerIn("seen"))) // born in the loss, stays as it is
			g.Restart()
			g.Allow(gateway.Sh("date", gateway.OwnerIn("newer")))
		})
	}
}

// One conversation of which the store lost all is untrusted, and its grants have gone with it. The others stay.
func TestH20AConversationWhoseStateVanishedIsUntrusted(t *testing.T) {
	t.Parallel()
	g := gateway.StartOnRedis(t, "") // nobody else can write to SQLite's file
	vanish := func(name string) {
		t.Helper()
		hash := store.Name{Client: "default", Key: "agent:main:" + name}.Hash()
		if n, err := g.Redis.Admin.Del(t.Context(), "v4:{default}:conv/"+hash).Result(); err != nil || n != 1 {
			t.Fatalf("%d keys deleted, %v", n, err)
		}
	}
	g.Allow(gateway.Sh("date", gateway.OwnerIn("clean")))
	g.Allow(gateway.Fetch(gateway.OwnerIn("tainted")))
	g.Consented(gateway.Sh("id -u", gateway.OwnerIn("tainted")), 30)
	g.Allow(gateway.Sh("date", gateway.OwnerIn("stays")))
	vanish("clean")
	vanish("tainted")
	g.Ask(gateway.Sh("date", gateway.OwnerIn("clean")))
	g.Ask(gateway.Sh("id", gateway.OwnerIn("tainted")))
	g.Allow(gateway.Sh("id", gateway.OwnerIn("stays")))
}

// Where the file of the store is taken away in use, the process forgets nothing, and health says so.
func TestH19AStoreFileTakenAwayInUseIsSeen(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	g.Allow(gateway.Fetch(gateway.OwnerIn("m")))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(g.State.DB() + suffix); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
	if status, text := g.Ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "store:") {
		t.Errorf("ready says %d %s", status, text)
	}
	g.Ask(gateway.Sh("date", gateway.OwnerIn("m")))
	g.Restart()
	g.Ask(gateway.Sh("id", gateway.OwnerIn("m")))
	g.Ask(gateway.Sh("date", gateway.OwnerIn("n")))
}

// A chat that is down, slow or refuses us: the deny comes before the client's time is over where no one else can be
// asked, and health says why.
func TestH43AChatThatIsDownIsTold(t *testing.T) {
	t.Parallel()
	g, s := onTelegram(t, "")
	s.Break(channeltest.Fault{Kind: channeltest.Unauthorized})
	a := g.Send(gateway.Sh("date", unvouched("m")))
	if a.Allowed() || a.Took > 20*time.Second || !strings.Contains(a.Reason, "can't be asked") {
		t.Errorf("after %v: %s", a.Took, a.Raw) // H54
	}
	eventually(t, "health tells it", func() bool {
		_, text := g.Ready()
		return strings.Contains(text, "telegram: sending: telegram: sendMessage: the bot token is wrong")
	})
}

func TestH44AfterKill9NothingIsAllowedThatNobodyApproved(t *testing.T) {
	t.Parallel()
	long.Only(t, "kill -9")
	gateway.OnBoth(t, "", func(t *testing.T, g *gateway.Gateway) {
		g.Allow(gateway.Fetch(gateway.OwnerIn("m")))
		c := gateway.Sh("touch x", gateway.OwnerIn("m"))
		c.ID, c.At = "held", time.Now()
		held := g.Later(t.Context(), c.Body())
		ref := g.Waits().Ref
		g.Kill()
		if a := <-held; a.Status != 0 {
			t.Errorf("the held call got %s", a.Raw)
		}
		g.Begin()
		g.Ask(gateway.Sh("id", gateway.OwnerIn("m"))) // taint is remembered, and no grant came from nowhere
		cards := g.Waiting(2)
		if cards[0].Ref != ref {
			t.Fatalf("the old question is not there: %+v", cards)
		}
		if v := g.Reply(".approve exec " + cards[0].Code(t)); v.Kind != "counted" {
			t.Fatalf("the owner is told %+v", v)
		}
		g.Allow(c)
		g.Ask(gateway.Sh("touch x", gateway.OwnerIn("m"))) // once is once
		g.Quit()
		if out, code := g.Run("audit", "verify"); code != 0 {
			t.Errorf("verify: %d\n%s", code, out)
		}
	})
}

// Eight agents make calls, the record goes on in new files, and the gateway is killed ten times.
func TestH44Kill9AmidThreeThousandAllowsLosesNoneThatWasAnswered(t *testing.T) {
	t.Parallel()
	long.Only(t, "kill -9")
	gateway.OnBoth(t, "audit: {rotateMB: 1}\n", func(t *testing.T, g *gateway.Gateway) {
		const agents, kills, each = 8, 10, 300
		var mu sync.Mutex
		var answered []string
		for kill := range kills {
			var calling sync.WaitGroup
			enough, once := make(chan struct{}), sync.Once{}
			for n := range agents {
				calling.Go(func() {
					defer once.Do(func() { close(enough) })
					for i := 0; ; i++ {
						c := read("notes.txt", gateway.OwnerIn(fmt.Sprint("m", n)))
						c.ID = fmt.Sprintf("%d-%d-%d", kill, n, i)
						body := c.Body()
						switch a, err := g.Try(t.Context(), body, g.Sign(body)); {
						case err != nil: // it was killed
							return
						case a.Allowed():
							mu.Lock()
							if answered = append(answered, c.ID); len(answered) == each*(kill+1) {
								once.Do(func() { close(enough) })
							}
							mu.Unlock()
						default:
							t.Log(a.Raw) // a busy machine's store may be too slow
						}
					}
				})
			}
			<-enough
			g.Kill()
			calling.Wait()
			g.Begin()
		}
		allowed := map[string]bool{}
		for _, e := range g.Decided() {
			allowed[e.RequestID] = allowed[e.RequestID] || e.Decision == record.Allow
		}
		for _, id := range answered {
			if !allowed[id] {
				t.Errorf("%s was allowed, and is not in the record", id)
			}
		}
		if len(answered) < kills*each {
			t.Errorf("only %d calls were allowed", len(answered))
		}
		if out, code := g.Run("audit", "verify"); code != 0 {
			t.Errorf("verify: %d\n%s", code, out)
		}
	})
}

// An old button answers that it has expired.
func TestH44H53AnExpiredQuestionSaysSo(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "approvalTtlSeconds: 10\nwebhook: {hold: 1s, maxHold: 10s}\n")
	g.Ask(gateway.Sh("ls", unvouched("m")))
	card := g.Waits()
	g.Restart()
	eventually(t, "the question expires", func() bool { return len(g.Pending()) == 0 })
	if v := g.Reply(".approve exec " + card.Code(t) + " 30"); v.Kind != "too late" || v.State != "expired" {
		t.Errorf("a late code is told %+v", v)
	}
	if v := g.Approve(card.Ref, 30); v.Kind == "counted" {
		t.Errorf("a late reference is told %+v", v)
	}
	g.Ask(gateway.Sh("ls", unvouched("m")))
}

func TestH45SIGTERMDeniesWhatIsHeldMarksTheCardsAndEndsInTime(t *testing.T) {
	t.Parallel()
	g, s := onTelegram(t, "")
	var held []<-chan gateway.Answer
	for i := range 3 {
		held = append(held, g.Hold(gateway.Sh(fmt.Sprint("ls /", i), unvouched(fmt.Sprint("m", i)))))
		g.Waiting(i + 1)
	}
	refs := g.Pending()
	if took := g.Quit(); took > 5*time.Second {
		t.Errorf("it ended after %v", took)
	}
	for _, h := range held {
		if a := <-h; a.Status != http.StatusOK || a.Allowed() || a.Ref == "" {
			t.Errorf("a held call got %d %s", a.Status, a.Raw)
		}
	}
	for _, card := range refs {
		message(t, s, card.Ref) // its card is there
	}
	message(t, s, "The gateway has stopped")
	for _, e := range g.Decided() {
		if e.Decision != record.Deny {
			t.Errorf("the record says %+v", e)
		}
	}
	g.Begin()
	if v := g.Approve(refs[0].Ref, 0); v.Kind != "counted" {
		t.Errorf("a yes after the restart is told %+v", v)
	}
}

// smallDisk mounts a file system that is soon full.
func smallDisk(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs root on Linux to mount a small tmpfs; CI is root on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs",
		dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted here, as in CI it can: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", dir).Run() })
	return dir
}

func TestH46AFullDiskIsADenyAndHealthTurnsRedUntilThereIsSpace(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	g := gateway.Start(t, "audit: {path: "+filepath.Join(disk, "record.jsonl")+"}\nwebhook: {hold: 30s}\n")
	held := g.Hold(gateway.Sh("ls", unvouched("held")))
	card := g.Waits()
	ballast := filepath.Join(disk, "ballast")
	f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	_ = f.Close()
	eventually(t, "a call is denied for the record", func() bool {
		a := g.Send(read("x", gateway.OwnerIn("m")))
		return !a.Allowed() && strings.Contains(a.Reason, "record")
	})
	if status, text := g.Ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "record: ") {
		t.Errorf("ready says %d %s", status, text)
	}
	g.Deny(gateway.Fetch(gateway.OwnerIn("m")))
	g.Deny(gateway.Sh("date", unvouched("new")))
	if got := g.Pending(); len(got) != 1 {
		t.Errorf("%d questions wait: one that can't be recorded was put", len(got))
	}
	g.Approve(card.Ref, 0)
	if a := <-held; a.Status != http.StatusOK || a.Allowed() {
		t.Errorf("a yes while nothing can be recorded: %d %s", a.Status, a.Raw)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	g.Ask(gateway.Sh("date", gateway.OwnerIn("m"))) // the fetch that was denied has tainted all the same
	g.Allow(read("x", gateway.OwnerIn("m")))
	if status, text := g.Ready(); status != http.StatusOK {
		t.Errorf("ready says %d %s with space again", status, text)
	}
}

// A record that is taken away is noticed before the next allow (H124).
func TestH46ARecordThatIsTakenAwayIsNoticedBeforeTheNextAllow(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(path string, raw []byte) error{
		"removed": func(path string, _ []byte) error { return os.Remove(path) },
		"cut":     func(path string, _ []byte) error { return os.Truncate(path, 10) },
		"replaced": func(path string, raw []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, raw, 0o600))
		},
	} {
		g := gateway.Start(t, "")
		g.Allow(read("a", gateway.OwnerIn("m")))
		path, raw := g.RecordFile(), g.Recorded()
		if err := errors.Join(os.Link(path, path+".kept"), take(path, raw)); err != nil {
			t.Fatal(err)
		}
		if a := g.Send(read("a", gateway.OwnerIn("m"))); a.Allowed() {
			t.Errorf("%s: allowed without a record: %s", name, a.Raw)
		}
		if status, text := g.Ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "record") {
			t.Errorf("%s: ready says %d %s", name, status, text)
		}
		if err := errors.Join(os.Rename(path+".kept", path), os.WriteFile(path, raw, 0o600)); err != nil {
			t.Fatal(err)
		}
		g.Allow(read("a", gateway.OwnerIn("m")))
	}
}

// The waiter sees the answer of another gateway that shares the store, though its wake-up is lost: Redis publishes
// nothing to it.
func TestH47ALostWakeUpStillReachesTheWaiter(t *testing.T) {
	t.Parallel()
	g := gateway.StartOnRedis(t, "webhook: {hold: 30s, maxHold: 60s}\n")
	held := g.Hold(gateway.Sh("date", unvouched("m")))
	card := g.Waits()
	ctx := context.Background()
	if err := g.Redis.Admin.Do(ctx, "CLIENT", "KILL", "TYPE", "PUBSUB").Err(); err != nil {
		t.Fatal(err)
	}
	if v := g.Approve(card.Ref, 0); v.Kind != "counted" {
		t.Errorf("told %+v", v)
	}
	if a := <-held; !a.Allowed() || a.Took > 20*time.Second {
		t.Errorf("after %v: %s", a.Took, a.Raw)
	}
}
