package approval

import (
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// heldParams are the params of held requests, as they came, for as long as they are
// held and in this process alone: nothing of them is stored.
type heldParams struct {
	mu       sync.Mutex
	byDigest map[string]*kept
}

type kept struct {
	params jsontext.Value
	held   int // requests that hold it
}

// hold keeps params until the request lets go.
func (w *heldParams) hold(digest string, params jsontext.Value) (letGo func()) {
	if len(params) == 0 {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDigest == nil {
		w.byDigest = make(map[string]*kept)
	}
	k := w.byDigest[digest]
	if k == nil {
		k = &kept{params: params}
		w.byDigest[digest] = k
	}
	k.held++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if k.held--; k.held == 0 {
			delete(w.byDigest, digest)
		}
	}
}

func (w *heldParams) find(digest string) jsontext.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.byDigest[digest]; k != nil {
		return k.params
	}
	return nil
}
