package verifier

import (
	"context"
	"sync"

	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/session"
)

// crowd are calls that a pause or a stop has ended, and that wait to be denied.
// There may be thousands of them at the same moment. They are denied in groups: a
// group is one trip to the store.
type crowd struct {
	mu      sync.Mutex
	waiting []*ending
	serving int
}

const (
	crowdGroup   = 64
	crowdServers = 4 // while the store keeps one group, others are recorded and answered
)

// denyInCrowd has a call denied with all who wait for the same.
func (v *Verifier) denyInCrowd(e *ending) {
	v.crowd.mu.Lock()
	defer v.crowd.mu.Unlock()
	v.crowd.waiting = append(v.crowd.waiting, e)
	if v.crowd.serving < crowdServers {
		v.crowd.serving++
		go v.serveCrowd()
	}
}

func (v *Verifier) serveCrowd() {
	for group := v.crowd.next(); len(group) > 0; group = v.crowd.next() {
		v.denyTogether(group)
	}
}

// next is the group whose turn it is. Where nobody waits, whoever asks is done.
func (c *crowd) next() (group []*ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), crowdGroup)
	group, c.waiting = c.waiting[:n:n], c.waiting[n:]
	if n == 0 {
		c.waiting = nil
		c.serving--
	}
	return group
}

func (v *Verifier) denyTogether(group []*ending) {
	v.keepDenied(group)
	for _, e := range group {
		v.endOne(e)
	}
}

func (v *Verifier) endOne(e *ending) {
	defer v.saveEnding(e)
	e.done <- v.refuse(e.ctx, e.t, e.no)
}

// keepDenied has the store keep calls as denied. Those that it does not keep are
// recorded all the same.
func (v *Verifier) keepDenied(group []*ending) {
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.Error("keeping a deny ended in a panic; the same request may be asked again", "panic", crash.Recovered(p))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), storeBudget)
	defer cancel()
	denials := make([]session.Denial, len(group))
	for i, e := range group {
		denials[i] = e.t.denial()
	}
	if err := v.o.Store.Deny(ctx, denials...); err != nil {
		for _, e := range group {
			v.o.Log.WarnContext(e.ctx, "a deny could not be kept; the same request may be asked again", "request", v.named(e.t.call), "err", err)
		}
	}
}

func (t *trace) denial() session.Denial {
	return session.Denial{Conversation: t.conv, RequestID: t.call.RequestID, Body: t.call.Body, Keep: t.settings.Keep}
}
