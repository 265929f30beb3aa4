package verifier

import (
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
)

// passedMark is the standing decision of an allow by the level alone.
const passedMark = "p"

// recentAllows remembers the requests that this process has let pass by their level
// alone, so that the same request gets the same answer. It is bounded: what it
// has forgotten is judged again.
type recentAllows struct {
	mu       sync.Mutex
	requests recent.Map[requestKey, struct{}]
}

const mostAllows = 20_000

// requestKey is one request: where, and the signed bytes, of which its id is one
// part.
type requestKey struct {
	conversation [16]byte
	body         [32]byte
}

func (g *recentAllows) note(k requestKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests.Put(k, struct{}{}, mostAllows)
}

func (g *recentAllows) has(k requestKey) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.requests.Get(k)
	return known
}

// request names the call's request.
func (t *evaluation) request() requestKey {
	return requestKey{t.convID, t.call.Body}
}
