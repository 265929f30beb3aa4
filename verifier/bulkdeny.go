package verifier

import (
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/crash"
)

// bulkDeny are calls that a pause or a stop has ended, and that wait to be denied.
// There may be thousands of them at the same moment. They are denied in groups: a
// group is one trip to the store, and one write to the record.
type bulkDeny struct {
	mu      sync.Mutex
	waiting []*ending
	serving int
	untold  []*ending     // all who may not have heard yet
	over    chan struct{} // closed when all have
}

const (
	crowdGroup   = 128 // what all servers record together is half of what may wait for a slow disk
	crowdServers = 4   // while the store keeps one group, others are recorded and answered
	crowdDrawn   = 256 // of a larger one nothing is drawn: it would push all else out of memory
)

// denyInCrowd has a call denied with all who wait for the same, and tells it in
// time.
func (en *endings) denyInCrowd(e *ending) Decision {
	en.join(e)
	return <-e.done
}

func (en *endings) join(e *ending) {
	c := &en.bulkDeny
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.untold = append(c.waiting, e), append(c.untold, e)
	if c.serving == 0 {
		c.over = make(chan struct{})
		go c.keepTime(c.over)
	}
	if c.serving < crowdServers {
		c.serving++
		go en.serve()
	}
}

// keepTime tells those whose time is up while store or record are slow, until the
// crowd is over. A timer for each would be a tenth of what they cost.
func (c *bulkDeny) keepTime(over <-chan struct{}) {
	tick := time.NewTicker(leastTrip)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			c.tellLate(now)
		case <-over:
			return
		}
	}
}

func (c *bulkDeny) tellLate(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untold = slices.DeleteFunc(c.untold, func(e *ending) bool {
		late := e.by.Before(now)
		if late {
			e.answer(e.no.decision(e.t))
		}
		return late
	})
}

func (en *endings) serve() {
	for group, large := en.bulkDeny.next(); len(group) > 0; group, large = en.bulkDeny.next() {
		en.denyTogether(group, !large)
	}
}

// next is the group whose turn it is, and whether it is of a large crowd. Where
// none waits, the caller is done.
func (c *bulkDeny) next() (group []*ending, large bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	large = len(c.waiting) > crowdDrawn
	n := min(len(c.waiting), crowdGroup)
	group, c.waiting = c.waiting[:n:n], c.waiting[n:]
	if n == 0 {
		c.leave()
	}
	return group, large
}

// leave is called by a server that has no call left to serve. Those that it served
// have their answers; after the last server left, all have.
func (c *bulkDeny) leave() {
	c.waiting = nil
	if c.serving--; c.serving == 0 {
		close(c.over)
		c.untold = nil
	}
}

// denyTogether keeps, records and answers. A call whose own part
// panics is denied by that, and the others go on.
func (en *endings) denyTogether(group []*ending, draw bool) {
	en.keep(group)
	group, entries := en.refusals(group)
	failed := en.recordAll(entries)
	for i, e := range group {
		en.answer(e, failed[i], draw)
	}
}

// refusals are the entries of those for whom one can be made.
func (en *endings) refusals(group []*ending) (able []*ending, entries []audit.Entry) {
	able, entries = make([]*ending, 0, len(group)), make([]audit.Entry, 0, len(group))
	for _, e := range group {
		func() {
			defer en.save(e)
			entries = append(entries, en.recorder.refusal(e.ctx, e.t, e.no))
			able = append(able, e)
		}()
	}
	return able, entries
}

func (en *endings) answer(e *ending, unrecorded error, draw bool) {
	defer en.save(e)
	en.recorder.refused(e.ctx, e.t, e.no, unrecorded)
	if draw {
		en.recorder.addCall(e.ctx, e.t, e.no)
	}
	e.answer(e.no.decision(e.t))
}

// recordAll has an error for each entry that is not in the record, and nil for the
// others.
func (en *endings) recordAll(entries []audit.Entry) (failed []error) {
	defer func() {
		if p := recover(); p != nil {
			failed = slices.Repeat([]error{crash.Recovered(p)}, len(entries))
		}
	}()
	if failed = en.o.Record.AppendAll(entries); failed == nil {
		failed = make([]error, len(entries))
	}
	return failed
}
