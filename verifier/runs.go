package verifier

import (
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// runs remembers how far runs have come: the highest iteration that each has reported, and what people said of it at its cap. It is
// bounded and belongs to this process: another one asks again. It refuses to let a run get below its cap by reporting none, or less.
type runs struct {
	mu    sync.Mutex
	known recent.Map[turns.Key, *run]
}

type run struct {
	turns.Key
	approvals int  // by people to calls at the cap of the run, see [runs.limit]
	stopped   bool // a person said no to one
	reported  bool // the run has reported iterations, and
	iteration int  // this is the highest
}

const mostRuns = 1000

// of is what is known of a call's run.
func (r *runs) of(c *toolcall.Call) run {
	if c.Context.RunID == "" {
		return run{}
	}
	k := turns.KeyOf(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.known.Get(k)
	if !known {
		return run{}
	}
	r.known.Put(one.Key, one, mostRuns) // it goes on
	return *one
}

// change keeps what is new of a call's run.
func (r *runs) change(c *toolcall.Call, to func(*run)) {
	if c.Context.RunID == "" {
		return
	}
	k := turns.KeyOf(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.known.Get(k)
	if !known {
		one = &run{Key: k}
	}
	to(one)
	r.known.Put(one.Key, one, mostRuns)
}

// reached gives a call or an event the highest iteration that its run has reported.
func (r *runs) reached(c *toolcall.Call) {
	if one := r.of(c); one.reported {
		c.Reached = new(one.iteration)
	}
}

// counted keeps the iteration that a call or an event of a run reports.
func (r *runs) counted(c *toolcall.Call, iteration *int) {
	if iteration != nil {
		r.change(c, func(one *run) { one.reported, one.iteration = true, max(one.iteration, *iteration) })
	}
}

// limit holds a call to what its run may use.
func (r *runs) limit(t *evaluation) {
	var one run
	if t.plan.Counts() {
		one = r.of(t.call)
	}
	t.plan.Loop(one.approvals, one.stopped)
}

// answered keeps what a person said of a call at the cap of its run: a yes lets the run go on, a no ends it.
func (r *runs) answered(t *evaluation, yes bool) {
	if !t.verdict.AtCap {
		return
	}
	r.change(t.call, func(one *run) {
		if yes {
			one.approvals = max(one.approvals, t.plan.GoesOn())
		} else {
			one.stopped = true
		}
	})
}
