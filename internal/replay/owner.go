package replay

import (
	"context"
	"sync"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// owner is the person at the desk. They know which call a question is about, and
// whether it is marked.
type owner struct {
	mu    sync.Mutex
	plays map[string]*played // by request id
}

// played is one call on its way.
type played struct {
	injected bool
	asked    bool
}

// Ask answers at once.
func (o *owner) Ask(_ context.Context, r *approval.Request) (approval.Ruling, error) {
	o.mu.Lock()
	p := o.plays[r.ID]
	o.mu.Unlock()
	p.asked = true
	if p.injected {
		return approval.Ruling{Denied: true, ByPerson: true, Ref: "REPLAY"}, nil
	}
	return approval.Ruling{Yes: true, Whole: true, Ref: "REPLAY"}, nil
}

// begin and end say which call is being decided.
func (o *owner) begin(request string, p *played) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plays[request] = p
}

func (o *owner) end(request string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.plays, request)
}

// Granted is none: a replay asks about everything.
func (*owner) Granted(*store.Tx, *approval.Ask) *store.Grant { return nil }

// Claim takes what the owner has just said.
func (*owner) Claim(_ *store.Tx, _ *approval.Ask, _ string, heard *approval.Ruling) (approval.Ruling, bool, error) {
	if heard == nil {
		return approval.Ruling{}, false, nil
	}
	return *heard, heard.Yes, nil
}

// Abandon has nothing to take back: the owner answers at once.
func (*owner) Abandon(context.Context, approval.Ending) error { return nil }

// Tell does nothing: the owner reads no messages.
func (*owner) Tell(context.Context, string) {}

// AnsweredElsewhere has nothing to close: the owner answers at once.
func (*owner) AnsweredElsewhere(context.Context, string, string, approval.Elsewhere) error {
	return nil
}
