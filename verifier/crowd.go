package verifier

import (
	"context"
	"slices"
	"sync"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/session"
)

// crowd are calls that a pause or a stop has ended, and that wait to be denied.
// There may be thousands of them at the same moment. They are denied in groups: a
// group is one trip to the store, and one write to the record.
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

// denyTogether keeps, records and answers. Whoever's own part ends in a panic is
// denied by that, and the others go on.
func (v *Verifier) denyTogether(group []*ending) {
	v.keepDenied(group)
	group, entries := v.refusals(group)
	failed := v.recordAll(entries)
	for i, e := range group {
		v.answer(e, failed[i])
	}
}

// refusals are the entries of those for whom one can be made.
func (v *Verifier) refusals(group []*ending) (able []*ending, entries []audit.Entry) {
	able, entries = make([]*ending, 0, len(group)), make([]audit.Entry, 0, len(group))
	for _, e := range group {
		func() {
			defer v.saveEnding(e)
			entries = append(entries, v.refusal(e.ctx, e.t, e.no))
			able = append(able, e)
		}()
	}
	return able, entries
}

func (v *Verifier) answer(e *ending, unrecorded error) {
	defer v.saveEnding(e)
	v.refused(e.ctx, e.t, e.no, unrecorded)
	e.done <- e.no.decision(e.t)
}

// recordAll has an error for each entry that is not in the record, and nil for the
// others.
func (v *Verifier) recordAll(entries []audit.Entry) (failed []error) {
	defer func() {
		if p := recover(); p != nil {
			failed = slices.Repeat([]error{crash.Recovered(p)}, len(entries))
		}
	}()
	if failed = v.o.Record.AppendAll(entries); failed == nil {
		failed = make([]error, len(entries))
	}
	return failed
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
