package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// workers is how many agents call at the same time.
const workers = 24

// world is everything of one run.
type world struct {
	dir      string
	seed     uint64
	tools    tools
	toxi     *toxiproxy
	redis    *redis
	chats    *chats
	gateways [2]*gateway
	agents   *agents
	tally    tally
	late     spans // when the machine was
}

func build(ctx context.Context, dir, kind string, p plan, t tools) (w *world, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	w = &world{dir: dir, seed: p.seed, tools: t, tally: tally{when: map[string]spans{}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.toxi, err = openToxiproxy(ctx, t.toxiproxy, dir); err != nil {
		return w, err
	}
	if w.redis, err = openRedis(ctx, dir, kind, t, w.toxi); err != nil {
		return w, err
	}
	w.chats = openChats()
	for i := range w.gateways {
		if w.gateways[i], err = openGateway(dir, i, w.redis.urls[i], w.chats, w.toxi, t); err != nil {
			return w, err
		}
	}
	w.agents = newAgents(w.gateways, p.calls)
	return w, nil
}

// random is a source of its own for each part, from the seed of the run: what is done is the same for the same seed,
// and when it meets what is the machine's.
func (w *world) random(part int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(part)))
}

// fire lets agents call and the owner tap while faults strike, until the calls are used up or ctx ends.
func (w *world) fire(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others, calling sync.WaitGroup
	others.Go(func() { w.chats.answer(ctx, w.random(1)) })
	for i, lane := range lanes {
		after := func() error { return nil }
		if i == 0 {
			after = w.redis.whole
		}
		others.Go(func() { w.strike(ctx, w.possible(lane), after, w.random(10+i)) })
	}
	var conversations atomic.Int64
	for i := range workers {
		calling.Go(func() {
			w.agents.live(ctx, w.random(100+i), func() int { return int(conversations.Add(1)) })
		})
	}
	calling.Wait()
	cancel()
	others.Wait()
}

// aftermath: when all is well again, a yes counts in each of the chats.
func (w *world) aftermath(ctx context.Context) error {
	w.agents.left.Store(1000)
	for i, where := range w.chats.rooms {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		var owner sync.WaitGroup
		owner.Go(func() { w.chats.allow(ctx, where) })
		t := talk{agents: w.agents, r: w.random(200 + i), id: afterwards + i}
		last := t.persist(ctx)
		cancel()
		owner.Wait()
		if !last.allowed {
			return errors.Join(fmt.Errorf("a yes on %s lets no call pass: %s", where.name, last.reason), last.fault)
		}
	}
	return nil
}

// afterwards is the first conversation that comes after all faults.
const afterwards = 1_000_000

// mend ends what may still be wrong.
func (w *world) mend() {
	for _, g := range w.gateways {
		g.thaw()
	}
	for _, n := range w.redis.nodes {
		n.signal(syscall.SIGCONT)
	}
}

// ready waits until both gateways say that calls can be decided.
func (w *world) ready(ctx context.Context, most time.Duration) error {
	for _, g := range w.gateways {
		if err := eventually(ctx, most, g.name+" is ready", func() error { return g.get("/readyz") }); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the gateways in good order, so that the records are complete.
func (w *world) stop() error {
	var both sync.WaitGroup
	var errs [2]error
	for i, g := range w.gateways {
		both.Go(func() {
			errs[i] = g.die(syscall.SIGTERM)
			if errs[i] == nil && g.code != 0 {
				errs[i] = fmt.Errorf("%s ended with %d; its log is in %s", g.name, g.code, g.log)
			}
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

func (w *world) close() error {
	var errs []error
	for _, g := range w.gateways {
		if g != nil {
			g.signal(syscall.SIGCONT)
			errs = append(errs, g.kill())
		}
	}
	if w.chats != nil {
		w.chats.close()
	}
	if w.redis != nil {
		w.redis.close()
	}
	if w.toxi != nil {
		errs = append(errs, w.toxi.kill())
	}
	return errors.Join(errs...)
}

// watched notes when this machine let a process wait that had something to do, until done is called: what the run
// itself suffered is not the gateways' fault.
func (w *world) watched() (done func()) {
	const beat = 10 * time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			due := time.Now().Add(beat)
			time.Sleep(beat)
			if now := time.Now(); now.Sub(due) > 2*beat {
				w.late = append(w.late, span{due, now})
			}
		}
	})
	return func() { stop(); watch.Wait() }
}
