package replay

import (
	"context"
	"sync"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
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
	return approval.Ruling{Yes: true, Ref: "REPLAY"}, nil
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

// MarkUsed is of no interest: no yes is kept for later.
func (*owner) MarkUsed(_, _, _ string) {}

// Covers says that the owner's word still counts.
func (*owner) Covers(string, approval.Ask) bool { return true }

// Abandon has nothing to take back: the owner answers at once.
func (*owner) Abandon(context.Context, approval.Ending) error {
	return nil
}

// Tell does nothing: the owner reads no messages.
func (*owner) Tell(context.Context, string) {}

// AnsweredElsewhere has nothing to close: the owner answers at once.
func (*owner) AnsweredElsewhere(context.Context, string, string, approval.Elsewhere) error {
	return nil
}

// View says that nothing is paused.
func (*owner) View(agent string) session.PauseView {
	return session.PauseView{Agent: session.AgentScope(agent)}
}

// Changed has nothing to learn.
func (*owner) Changed(context.Context, session.PauseView, [2]string) error { return nil }

// Active is none: a replay asks about everything.
func (*owner) Active(context.Context) ([]session.Grant, error) { return nil, nil }

// UsedUp matters only where there is a standing consent.
func (*owner) UsedUp(context.Context, string, string) bool { return false }
