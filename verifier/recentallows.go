package verifier

import (
	"slices"
	"sync"
)

// passedMark is the standing decision of an allow by the level alone.
const passedMark = "p"

// recentAllows remembers the requests that this process has let pass by their level
// alone, so that the same request gets the same answer. It is bounded: what it
// has forgotten is judged again.
//
// Every allow is noted and hardly one is ever looked for, so noting is what it is
// made for: a request takes the place of the oldest in the row that its body
// names. In a map of all it would be in another part of memory each time.
type recentAllows struct {
	mu   sync.Mutex
	rows [givenRows]givenRow
}

type givenRow struct {
	keys []requestKey
	next int // whose place the next one takes, once there are as many as a row has
}

// A request is there until as many others came in its row: after the next 20,000
// it is, unless somebody chose their bodies for it to be forgotten.
const (
	givenRows = 256
	givenEach = 160
)

// requestKey is one request: where, and the signed bytes, of which its id is one
// part.
type requestKey struct {
	conversation [16]byte
	body         [32]byte
}

func (g *recentAllows) note(k requestKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	row := &g.rows[k.body[0]]
	if len(row.keys) < givenEach {
		row.keys = append(row.keys, k)
		return
	}
	row.keys[row.next] = k
	row.next = (row.next + 1) % givenEach
}

func (g *recentAllows) has(k requestKey) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.rows[k.body[0]].keys, k)
}

// request names the call's request.
func (t *evaluation) request() requestKey {
	return requestKey{t.convID, t.call.Body}
}
