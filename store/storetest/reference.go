package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// reference is the Model as a whole Store with the suite's levers.
type reference struct {
	*Model
	clock *clock
	heads sync.Map
}

// clock moves only when it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newReference(now time.Time) *reference {
	c := &clock{now: now}
	return &reference{Model: NewModel(c.Now), clock: c}
}

// harness wires the levers.
func (r *reference) harness() Harness {
	return Harness{Store: r, Advance: r.clock.advance, Forget: r.forget, Flush: r.flush}
}

// KeepHead implements Store.
func (r *reference) KeepHead(_ context.Context, name, head string) error {
	r.heads.Store(name, head)
	return nil
}

// Head implements Store.
func (r *reference) Head(_ context.Context, name string) (string, error) {
	head, _ := r.heads.Load(name)
	text, _ := head.(string)
	return text, nil
}

// Ready implements Store.
func (r *reference) Ready(context.Context) error { return nil }

// AcceptLoss implements Store.
func (r *reference) AcceptLoss(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = false
	return nil
}

func (r *reference) forget(c session.Conversation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.convs, c.Hash())
}

func (r *reference) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost, r.order = true, nil
	clear(r.known)
	clear(r.convs)
	clear(r.replays)
	clear(r.runs)
	clear(r.cards)
	clear(r.codes)
	clear(r.misses)
	clear(r.leases.leases)
	clear(r.pauses)
	clear(r.asked)
	clear(r.told)
	clear(r.notes)
	r.auto = map[string]taint.Level{}
	r.heads.Clear()
}
