package verifier

import (
	"cmp"
	"sync"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// runs remembers how far the last runs have come. It belongs to this process: another one counts anew.
type runs struct {
	mu    sync.Mutex
	known map[runKey]*run // the latest ones, and
	older map[runKey]*run // those before them
}

type runKey struct{ client, session, run string }

type run struct {
	yeses     int  // by people to calls at the cap of the run
	stopped   bool // it makes no more calls that count: a person said no to one, or it has used up its iterations
	iteration *int // the highest that it has reported; nil: none
	calls     int
}

const mostRunsKnown = 1000

// of changes what is known of a call's run, and gives it. A call that names no run belongs to none.
func (r *runs) of(c *protocol.Call, change func(*run)) run {
	one := &run{}
	if k := (runKey{c.Client, c.Context.SessionKey, c.Context.RunID}); k.run != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.known == nil || len(r.known) >= mostRunsKnown {
			r.older, r.known = r.known, map[runKey]*run{}
		}
		one = cmp.Or(r.known[k], r.older[k], one)
		r.known[k] = one
	}
	change(one)
	return *one
}

func stop(n *run) { n.stopped = true }

// reach takes in the iteration that a call or an event reports, if it does, and gives the call the highest of its run.
func (r *runs) reach(c *protocol.Call, iteration *int) run {
	known := r.of(c, func(n *run) {
		if n.iteration == nil || iteration != nil && *iteration > *n.iteration {
			n.iteration = iteration
		}
	})
	c.Reached = known.iteration
	return known
}
