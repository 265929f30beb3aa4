package verifier

import "sync"

// passedMark is the standing decision of an allow by the level alone.
const passedMark = "p"

// given remembers the requests that this process has let pass by their level
// alone, so that the same request gets the same answer. It is bounded: what it
// has forgotten is judged again.
type given struct {
	mu     sync.Mutex
	recent map[requestKey]struct{}
	old    map[requestKey]struct{}
}

// requestKey is one request: where, and the signed bytes, of which its id is one
// part.
type requestKey struct {
	conversation [16]byte
	body         [32]byte
}

const givenSize = 20_000

func (g *given) note(k requestKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.recent == nil || len(g.recent) >= givenSize {
		g.old, g.recent = g.recent, make(map[requestKey]struct{}, len(g.recent)) // it will be as full
	}
	g.recent[k] = struct{}{}
}

func (g *given) has(k requestKey) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, recent := g.recent[k]
	_, old := g.old[k]
	return recent || old
}

// request names the call's request.
func (t *trace) request() requestKey {
	return requestKey{t.convID, t.call.Body}
}
