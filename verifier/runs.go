package verifier

import (
	"sync"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// runs remembers how far the last runs have come: the highest iteration that each has reported, how many calls it has
// made, and what people said of it at its cap. It belongs to this process: another one counts anew.
type runs struct {
	mu    sync.Mutex
	known map[runKey]*run // the latest ones, and
	older map[runKey]*run // those before them
}

type runKey struct{ client, session, run string }

type run struct {
	yeses     int  // by people to calls at the cap of the run, see [policy.Plan.Loop]
	stopped   bool // a person said no to one
	reported  bool // the run has reported iterations, and
	iteration int  // this is the highest
	calls     int
}

const mostRunsKnown = 1000

// of looks at what is known of a call's run, and may change it. A call that names no run belongs to none.
func (r *runs) of(c *protocol.Call, look func(*run)) {
	if c.Context.RunID == "" {
		look(&run{})
		return
	}
	k := runKey{c.Client, c.Context.SessionKey, c.Context.RunID}
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known[k]
	if one == nil {
		if one = r.older[k]; one == nil {
			one = &run{}
		}
		if r.known == nil || len(r.known) >= mostRunsKnown {
			r.older, r.known = r.known, map[runKey]*run{}
		}
		r.known[k] = one
	}
	look(one)
}

// reached gives a call or an event the highest iteration that its run has reported.
func (r *runs) reached(c *protocol.Call) {
	r.of(c, func(one *run) {
		if one.reported {
			c.Reached = new(one.iteration)
		}
	})
}

// counted keeps the iteration that a call or an event of a run reports.
func (r *runs) counted(c *protocol.Call, iteration *int) {
	if iteration != nil {
		r.of(c, func(one *run) { one.reported, one.iteration = true, max(one.iteration, *iteration) })
	}
}

// called counts a call.
func (r *runs) called(c *protocol.Call) (calls int) {
	r.of(c, func(one *run) {
		one.calls++
		calls = one.calls
	})
	return calls
}

// answers are what people said of the run at its cap.
func (r *runs) answers(c *protocol.Call) (yeses int, stopped bool) {
	r.of(c, func(one *run) { yeses, stopped = one.yeses, one.stopped })
	return yeses, stopped
}

// answered keeps what a person said of a call at the cap of its run: a yes lets the run go on, a no ends it.
func (r *runs) answered(e *evaluation, yes bool) {
	r.of(e.call, func(one *run) {
		if yes {
			one.yeses = max(one.yeses, e.plan.GoesOn())
		} else {
			one.stopped = true
		}
	})
}

// stop ends a run that has used up its iterations: it makes no more calls that count.
func (r *runs) stop(c *protocol.Call) {
	r.of(c, func(one *run) { one.stopped = true })
}
