package verifier

import (
	"sync"

	"github.com/openclaw-verifier/verifier/session"
)

// watch remembers which conversations have read secrets. Only a process that has
// seen every call of a conversation can say that it holds none: after a restart,
// or where several processes share the calls, nobody can, and that counts
// against the call.
type watch struct {
	mu     sync.Mutex
	recent map[[16]byte]*watched
	old    map[[16]byte]*watched
}

type watched struct {
	calls   int64 // seen here
	last    int64 // step: as many as its calls if all of them were seen here
	secrets bool
}

const watchSize = 20_000

// saw counts a call that was admitted, and says what is known of its conversation.
func (w *watch) saw(c session.Conversation, v *session.View) session.Holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(c.ID())
	if !v.Replayed {
		one.calls++
	}
	one.last = max(one.last, v.Step)
	switch {
	case one.secrets:
		return session.Holds
	case one.calls == one.last && !v.Lost:
		return session.HoldsNone
	}
	return session.MayHold
}

// secret notes that a call which bears secrets is about to be released.
func (w *watch) secret(c session.Conversation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(c.ID()).secrets = true
}

func (w *watch) find(id [16]byte) *watched {
	if one := w.recent[id]; one != nil {
		return one
	}
	one := w.old[id]
	if one == nil {
		one = &watched{}
	}
	if w.recent == nil || len(w.recent) >= watchSize {
		w.old, w.recent = w.recent, make(map[[16]byte]*watched)
	}
	w.recent[id] = one
	return one
}
