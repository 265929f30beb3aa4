package verifier

import (
	"context"
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
)

// ranOtherwise is what people read of a call that ran with other arguments than were judged.
const ranOtherwise = "The agent ran something else than it asked about: another hook or plugin of the agent changed the call after it was judged."

// otherwise remembers of which of the last conversations the owner was told that a call ran with other arguments.
type otherwise struct {
	mu   sync.Mutex
	told recent.Map[[16]byte, bool]
}

// first reports whether it is the first time in a conversation.
func (o *otherwise) first(conversation [16]byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.told.Get(conversation); known {
		return false
	}
	o.told.Put(conversation, true, resultsSize)
	return true
}

// tellOtherwise tells the owner, once for each conversation. The notice holds nothing that the agent wrote: the record says which call it was.
func (l *listener) tellOtherwise(ctx context.Context, h *eventEvaluation) {
	if h.event.Returned.Changed && !h.heard.Replayed && l.otherwise.first(h.convID) {
		l.o.Desk.Tell(ctx, ranOtherwise+" Nothing in that conversation is trusted from now on. `verifier audit show` says which call it was, and `verifier check` names hooks that could have done it.")
	}
}
