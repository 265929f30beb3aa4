package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

// fault is something that is done to a part and, after a while, undone.
type fault struct {
	name        string
	share       int // how often, against the others of its lane; 0: never in this run
	least, most time.Duration
	do          action
}

type action func(w *world, r *rand.Rand) (undo func() error, err error)

const ms = time.Millisecond

// lanes are what goes on at the same time: in each, one fault after the other.
var lanes = [][]fault{
	{
		{"redis killed", 3, 0, time.Second, killNode},
		{"redis stopped", 3, 200 * ms, 1500 * ms, stopNode},
		{"redis cut off", 3, 200 * ms, 1500 * ms, toStore((*proxy).cut)},
		{"redis unheard", 3, 200 * ms, 1500 * ms, toStore((*proxy).mute)},
		{"redis far away", 2, 300 * ms, 2 * time.Second, delayStore},
		{"redis on a slow disk", 2, 300 * ms, 2 * time.Second, slowStore},
		{"store's clock jumps", 1, 500 * ms, 3 * time.Second, jumpStore},
		{"sentinel killed", 1, 200 * ms, 2 * time.Second, killSentinel},
		{"failover", 3, 2 * time.Second, 4 * time.Second, killMaster},
	},
	{
		{"gateway killed", 3, 0, 800 * ms, endGateway(syscall.SIGKILL)},
		{"gateway restarted", 2, 0, 300 * ms, endGateway(syscall.SIGTERM)},
		{"gateway stopped", 3, 200 * ms, 2 * time.Second, stopGateway},
		{"record on a slow disk", 2, 300 * ms, 2 * time.Second, slowRecord},
	},
	{
		{"chat cut off", 3, 200 * ms, 3 * time.Second, toChat((*proxy).cut)},
		{"chat unheard", 2, 200 * ms, 2 * time.Second, toChat((*proxy).mute)},
		{"chat in trouble", 2, 200 * ms, 2 * time.Second, breakChat},
	},
}

// faultNames are in the order of the report.
var faultNames = func() (names []string) {
	for _, f := range slices.Concat(lanes...) {
		names = append(names, f.name)
	}
	return names
}()

// possible are the faults of a lane that this run can do.
func (w *world) possible(lane []fault) []fault {
	return slices.DeleteFunc(slices.Clone(lane), func(f fault) bool {
		switch f.name {
		case "redis on a slow disk", "store's clock jumps":
			return w.tools.shim == ""
		case "sentinel killed", "failover":
			return w.redis.kind != sentinel
		case "record on a slow disk":
			return w.tools.strace == ""
		}
		return false
	})
}

// tally is what was done, and when.
type tally struct {
	mu   sync.Mutex
	when map[string]spans
	errs []error
}

func (t *tally) add(name string, from time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.when[name] = append(t.when[name], span{from, time.Now()})
	if err != nil {
		t.errs = append(t.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// strike goes through a lane until ctx ends. What was done is always undone, and then after is.
func (w *world) strike(ctx context.Context, lane []fault, after func() error, r *rand.Rand) {
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
			w.tally.add(f.name, from, errors.Join(err, undo(), after()))
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

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func killNode(w *world, r *rand.Rand) (func() error, error) {
	n := one(r, w.redis.nodes)
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
	s := one(r, w.redis.sentinels)
	return s.start, s.kill()
}

func stopNode(w *world, r *rand.Rand) (func() error, error) {
	n := one(r, w.redis.nodes)
	n.signal(syscall.SIGSTOP)
	return func() error { n.signal(syscall.SIGCONT); return nil }, nil
}

func delayStore(w *world, r *rand.Rand) (func() error, error) {
	return one(r, w.redis.ways).poison("latency", map[string]any{"latency": 50 + r.IntN(200), "jitter": r.IntN(100)})
}

func slowStore(w *world, r *rand.Rand) (func() error, error) {
	err := w.redis.knobs.set(0, time.Duration(20+r.IntN(380))*ms)
	return func() error { return w.redis.knobs.set(0, 0) }, err
}

// jumpStore moves the clock that cards and grants expire by.
func jumpStore(w *world, _ *rand.Rand) (func() error, error) {
	err := w.redis.knobs.set(31*time.Minute, 0)
	return func() error { return w.redis.knobs.set(0, 0) }, err
}

func endGateway(s syscall.Signal) action {
	return func(w *world, r *rand.Rand) (func() error, error) {
		g := one(r, w.gateways[:])
		return g.begin, g.die(s)
	}
}

func stopGateway(w *world, r *rand.Rand) (func() error, error) {
	g := one(r, w.gateways[:])
	g.freeze()
	return func() error { g.thaw(); return nil }, nil
}

// slowRecord makes the disk slow that the record is on, for the gateway alone: strace holds each write to that file up.
func slowRecord(w *world, r *rand.Rand) (func() error, error) {
	g := one(r, w.gateways[:])
	delay := fmt.Sprintf("inject=write:delay_enter=%d", (20+r.IntN(180))*1000)
	log := filepath.Join(w.dir, "strace.log")
	cmd := exec.Command(w.tools.strace, "-f", "-q", "-o", log, //nolint:noctx // ended below
		"-P", filepath.Join(g.state, "record-000001.jsonl"), "-e", "trace=write", "-e", delay, "-p",
		fmt.Sprint(g.pid.Load()))
	if err := cmd.Start(); err != nil {
		return func() error { return nil }, err
	}
	return func() error {
		_ = cmd.Process.Signal(syscall.SIGINT) // it lets go of the process first
		_ = cmd.Wait()
		return nil
	}, nil
}

func toStore(do func(*proxy) (undo func() error, err error)) action {
	return func(w *world, r *rand.Rand) (func() error, error) { return do(one(r, w.redis.ways)) }
}

func toChat(do func(*proxy) (undo func() error, err error)) action {
	return func(w *world, r *rand.Rand) (func() error, error) { return do(one(r, one(r, w.gateways[:]).chats)) }
}

func breakChat(w *world, r *rand.Rand) (func() error, error) {
	some := []channeltest.FaultKind{
		channeltest.Broken, channeltest.Limited, channeltest.Malformed, channeltest.Hangs, channeltest.Down,
	}
	f := channeltest.Fault{Kind: one(r, some), After: time.Second}
	chat := one(r, w.chats.rooms)
	chat.Break(f)
	return func() error { chat.Break(channeltest.Fault{}); return nil }, nil
}
