package replay

import (
	"context"
	"sync"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// Approve is what the simulated owner says to what is not injected.
type Approve string

// What Approve can be.
const (
	Once  Approve = "once"  // yes, to this call
	Never Approve = "never" // no: how the agent fares without anyone there
)

// owner is the person at the desk. They know which call a question is about, and
// whether it is marked.
type owner struct {
	approve Approve

	mu    sync.Mutex
	plays map[string]*played // by request id
}

// played is one call on its way.
type played struct {
	injected bool
	asked    bool
	rule     string
}

// Ask answers at once.
func (o *owner) Ask(_ context.Context, r approval.Request) (approval.Ruling, error) {
	o.mu.Lock()
	p := o.plays[r.ID]
	o.mu.Unlock()
	p.asked, p.rule = true, r.Ask.Rule
	if p.injected || o.approve == Never {
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

// Spent is of no interest: no yes is kept for later.
func (*owner) Spent(_, _, _ string) {}

// Stands says that the owner's word still counts.
func (*owner) Stands(string, approval.Ask) bool { return true }

// Brake says that nothing is paused.
func (*owner) Brake(agent string) session.Brake {
	return session.Brake{Agent: session.AgentScope(agent)}
}

// Braked has nothing to learn.
func (*owner) Braked(context.Context, session.Brake, [2]string) error { return nil }
