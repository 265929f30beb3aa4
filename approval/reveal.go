package approval

import (
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// heldParams are the params of held requests, as they came, for as long as they are
// held and in this process alone: nothing of them is stored.
type heldParams struct {
	mu       sync.Mutex
	byDigest map[string][]*heldCall
}

// heldCall is one of these requests.
type heldCall struct {
	request string
	params  jsontext.Value
	edit    Editor                    // nil: its runtime runs no params but its own
	edits   map[string]jsontext.Value // what people allow instead, by digest
}

// hold keeps params until the request lets go.
func (w *heldParams) hold(digest string, c *heldCall) (letGo func()) {
	if len(c.params) == 0 {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDigest == nil {
		w.byDigest = make(map[string][]*heldCall)
	}
	w.byDigest[digest] = append(w.byDigest[digest], c)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		left := slices.DeleteFunc(w.byDigest[digest], func(other *heldCall) bool { return other == c })
		if w.byDigest[digest] = left; len(left) == 0 {
			delete(w.byDigest, digest)
		}
	}
}

func (w *heldParams) find(digest string) jsontext.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.byDigest[digest]; len(all) > 0 {
		return all[0].params
	}
	return nil
}

// call is a request that is held.
func (w *heldParams) call(digest, request string) *heldCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byDigest[digest]
	if at := slices.IndexFunc(all, func(c *heldCall) bool { return c.request == request }); at >= 0 {
		return all[at]
	}
	return nil
}

// put keeps what a person allows instead of a held request, for all that wait for it.
func (w *heldParams) put(digest, request, edited string, params jsontext.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.byDigest[digest] {
		if c.request != request {
			continue
		}
		if c.edits == nil {
			c.edits = make(map[string]jsontext.Value)
		}
		c.edits[edited] = params
	}
}

// edited is what was put under a digest; nil: nothing was.
func (c *heldCall) edited(w *heldParams, digest string) jsontext.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.edits[digest]
}

// editorOf is what judges other params of a question's call, for the request that a yes would go to.
func (w *heldParams) editorOf(q *Question) (*heldCall, string) {
	switch {
	case q.Ask.Approvals > 1:
		return nil, notEditable + "several people have to allow the same call. Nothing was approved."
	case q.Ask.HeldOnly:
		return nil, notEditable + "parts of it were hidden before they reached us. Nothing was approved."
	case len(q.Holders) == 0:
		return nil, notEditable + notHeldHere
	}
	held := w.call(q.Ask.Digest, heldRequest(q.Holders[0]))
	switch {
	case held == nil:
		return nil, notEditable + notHeldHere
	case held.edit == nil:
		return nil, notEditable + "the agent's software can't run other arguments than its own. Nothing was approved."
	}
	return held, ""
}
