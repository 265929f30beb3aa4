package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// fault is something that is done to a part and, after a while, undone.
type fault struct {
	name  string
	does  string // for the report
	share int    // how often, against the others of its lane
	least time.Duration
	most  time.Duration
	do    func(w *world, r *rand.Rand) (undo func() error, err error)
}

// lanes are what goes on at the same time: in each, one fault after the other.
func (w *world) lanes() [][]fault {
	store := []fault{
		{"redis killed", "kill -9, started again", 3, 0, time.Second, killNode},
		{"redis stopped", "SIGSTOP, SIGCONT", 3, 200 * time.Millisecond, 1500 * time.Millisecond, stopNode},
		{"redis cut off", "connections refused and broken", 3, 200 * time.Millisecond, 1500 * time.Millisecond, cutStore},
		{"redis unheard", "a way on which nothing arrives", 3, 200 * time.Millisecond, 1500 * time.Millisecond, muteStore},
		{"redis far away", "50 to 350 ms each way", 2, 300 * time.Millisecond, 2 * time.Second, delayStore},
	}
	if w.tools.shim != "" {
		store = append(store,
			fault{"redis on a slow disk", "each fdatasync takes 20 to 400 ms", 2, 300 * time.Millisecond, 2 * time.Second, slowStore},
			fault{"store's clock jumps", "31 minutes ahead, and back", 1, 500 * time.Millisecond, 3 * time.Second, jumpStore})
	}
	if w.redis.kind == sentinel {
		store = append(store,
			fault{"sentinel killed", "kill -9, started again", 1, 200 * time.Millisecond, 2 * time.Second, killSentinel},
			fault{"failover", "the master killed until another is elected", 3, 2 * time.Second, 4 * time.Second, killMaster})
	}
	for i := range store {
		do := store[i].do
		store[i].do = func(w *world, r *rand.Rand) (func() error, error) {
			undo, err := do(w, r)
			return func() error { return errors.Join(undo(), w.redis.whole()) }, err
		}
	}
	gateways := []fault{
		{"gateway killed", "kill -9, started again", 3, 0, 800 * time.Millisecond, killGateway},
		{"gateway restarted", "SIGTERM, started again", 2, 0, 300 * time.Millisecond, restartGateway},
		{"gateway stopped", "SIGSTOP, SIGCONT", 3, 200 * time.Millisecond, 2 * time.Second, stopGateway},
	}
	if w.tools.strace != "" {
		gateways = append(gateways, fault{"record on a slow disk", "each write of a line takes 20 to 200 ms", 2, 300 * time.Millisecond, 2 * time.Second, slowRecord})
	}
	chat := []fault{
		{"chat cut off", "from one gateway", 3, 200 * time.Millisecond, 3 * time.Second, cutChat},
		{"chat unheard", "by one gateway", 2, 200 * time.Millisecond, 2 * time.Second, muteChat},
		{"chat in trouble", "500, 429, nonsense, hangs", 2, 200 * time.Millisecond, 2 * time.Second, breakChat},
	}
	return [][]fault{store, gateways, chat}
}

// tally is what was done, and when.
type tally struct {
	mu    sync.Mutex
	count map[string]int
	when  map[string]spans
	errs  []error
}

func (t *tally) add(name string, from time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[name]++
	t.when[name] = append(t.when[name], span{from, time.Now()})
	if err != nil {
		t.errs = append(t.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// strike goes through a lane until ctx ends. What was done is always undone.
func (w *world) strike(ctx context.Context, lane []fault, r *rand.Rand) {
	sum := 0
	for _, f := range lane {
		sum += f.share
	}
	sleep(ctx, 500*time.Millisecond) // in the shortest of runs too, something goes well first
	for round := 0; ctx.Err() == nil; round++ {
		n := r.IntN(sum)
		if round == 0 {
			n = sum - 1 // the last of a lane strikes in the shortest of runs
		}
		for _, f := range lane {
			if n -= f.share; n >= 0 {
				continue
			}
			from := time.Now()
			undo, err := f.do(w, r)
			sleep(ctx, f.least+time.Duration(r.Int64N(int64(f.most-f.least)+1)))
			w.tally.add(f.name, from, errors.Join(err, undo()))
			break
		}
		sleep(ctx, time.Duration(200+r.IntN(2800))*time.Millisecond)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (w *world) node(r *rand.Rand) *node { return w.redis.nodes[r.IntN(len(w.redis.nodes))] }

func killNode(w *world, r *rand.Rand) (func() error, error) {
	n := w.node(r)
	return n.start, n.kill()
}

func killMaster(w *world, r *rand.Rand) (func() error, error) {
	n := w.redis.master(context.Background())
	if n == nil {
		return killNode(w, r)
	}
	return n.start, n.kill()
}

func killSentinel(w *world, r *rand.Rand) (func() error, error) {
	s := w.redis.sentinels[r.IntN(len(w.redis.sentinels))]
	return s.start, s.kill()
}

func stopNode(w *world, r *rand.Rand) (func() error, error) {
	n := w.node(r)
	n.signal(syscall.SIGSTOP)
	return func() error { n.signal(syscall.SIGCONT); return nil }, nil
}

func cutStore(w *world, r *rand.Rand) (func() error, error) {
	p := w.redis.ways[r.IntN(len(w.redis.ways))]
	return p.join, p.cut()
}

func muteStore(w *world, r *rand.Rand) (func() error, error) {
	return poison(w.redis.ways[r.IntN(len(w.redis.ways))], "timeout", map[string]any{"timeout": 0})
}

func delayStore(w *world, r *rand.Rand) (func() error, error) {
	return poison(w.redis.ways[r.IntN(len(w.redis.ways))], "latency", map[string]any{"latency": 50 + r.IntN(200), "jitter": r.IntN(100)})
}

func poison(p *proxy, kind string, attributes map[string]any) (func() error, error) {
	return func() error { return p.clean(kind) }, p.poison(kind, attributes)
}

func slowStore(w *world, r *rand.Rand) (func() error, error) {
	err := w.redis.knobs.setDisk(time.Duration(20+r.IntN(380)) * time.Millisecond)
	return func() error { return w.redis.knobs.setDisk(0) }, err
}

// jumpStore moves the clock that cards and grants expire by.
func jumpStore(w *world, _ *rand.Rand) (func() error, error) {
	err := w.redis.knobs.setClock(31 * time.Minute)
	return func() error { return w.redis.knobs.setClock(0) }, err
}

func killGateway(w *world, r *rand.Rand) (func() error, error) {
	g := w.gateways[r.IntN(2)]
	return g.begin, g.die(syscall.SIGKILL)
}

func restartGateway(w *world, r *rand.Rand) (func() error, error) {
	g := w.gateways[r.IntN(2)]
	return g.begin, g.die(syscall.SIGTERM)
}

func stopGateway(w *world, r *rand.Rand) (func() error, error) {
	g := w.gateways[r.IntN(2)]
	g.freeze()
	return func() error { g.thaw(); return nil }, nil
}

// slowRecord makes the disk slow that the record is on, for the gateway alone:
// strace holds each write to that file up.
func slowRecord(w *world, r *rand.Rand) (func() error, error) {
	g := w.gateways[r.IntN(2)]
	delay := fmt.Sprintf("inject=write:delay_enter=%d", (20+r.IntN(180))*1000)
	cmd := exec.Command(w.tools.strace, "-f", "-q", "-o", filepath.Join(w.dir, "strace.log"), "-P", filepath.Join(g.state, "record.jsonl"), //nolint:gosec,noctx // ended below
		"-e", "trace=write", "-e", delay, "-p", fmt.Sprint(g.pid()))
	if err := cmd.Start(); err != nil {
		return func() error { return nil }, err
	}
	return func() error {
		_ = cmd.Process.Signal(syscall.SIGINT) // it lets go of the process first
		_ = cmd.Wait()
		return nil
	}, nil
}

func cutChat(w *world, r *rand.Rand) (func() error, error) {
	p := w.chat(r)
	return p.join, p.cut()
}

func muteChat(w *world, r *rand.Rand) (func() error, error) {
	return poison(w.chat(r), "timeout", map[string]any{"timeout": 0})
}

func (w *world) chat(r *rand.Rand) *proxy {
	ways := w.gateways[r.IntN(2)].chats
	return ways[r.IntN(len(ways))]
}

func breakChat(w *world, r *rand.Rand) (func() error, error) {
	some := []channeltest.FaultKind{channeltest.Broken, channeltest.Limited, channeltest.Malformed, channeltest.Hangs, channeltest.Down}
	f := channeltest.Fault{Kind: some[r.IntN(len(some))], After: time.Second}
	chat := w.chats.rooms[r.IntN(len(w.chats.rooms))]
	chat.Break(f)
	return func() error { chat.Break(channeltest.Fault{}); return nil }, nil
}
