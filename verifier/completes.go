package verifier

import (
	"maps"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
)

// actions remembers, for each service of a client, the last call that acted there,
// where one more call may complete it: a person said yes to that very call, or the
// policy allowed it before outside content came in. Every other call that acts
// there, allowed or not, takes it away, and so does the call that completes it. It
// is bounded and belongs to this process: what it does not know is asked about.
type actions struct {
	hide *hiding
	over func(turns.Key) bool // whether a turn is over

	mu    sync.Mutex
	known map[serviceKey]action
	// unseen are services on which a call acted to which no person said yes, in a
	// conversation with outside content, and when: by a grant, by an override, or
	// unasked. A code could be for that call, so nothing there completes for a while.
	// The empty key is for all of them, where there are too many.
	unseen map[serviceKey]time.Time
}

type serviceKey struct{ client, service string }

// action is a call that may be completed, and where.
type action struct {
	conversation [16]byte // whose state counts
	turn         turns.Key
	window       string
	agent        string
	tool         string
	generation   int64
	at           time.Time // by the store's clock
}

const (
	mostActions = 1000
	// completesWithin is how long after the call it may be completed: one-time codes
	// live no longer.
	completesWithin = 15 * time.Minute
)

// acts takes away what the call's service remembers, and all that the conversation
// could have completed if it can't be told what the call acts on. It gives what was
// there for the service, for the call that may complete it.
func (s *actions) acts(t *evaluation) *action {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.plan.Service == "" {
		s.forget(t.convID)
		return nil
	}
	k := serviceKey{t.call.Client, t.plan.Service}
	last, found := s.known[k]
	if !found {
		return nil
	}
	delete(s.known, k)
	return &last
}

// allowed remembers a call that is allowed, where another one may complete it, and
// that its service was acted on where none may. Any other that acts takes away what
// was remembered since its admission.
func (s *actions) allowed(t *evaluation) {
	p, c := &t.plan, t.call
	if p.Service == "" || p.Completes || t.again() {
		s.acts(t)
		return
	}
	k, turn, at := serviceKey{c.Client, p.Service}, turns.KeyOf(t.call), t.view.Now
	if !t.viewed.IsZero() { // people may have taken a while
		at = t.now().Truncate(time.Millisecond) // as the store tells the time: the next call's must not be before it
	}
	byPolicy := t.verdict.Mode == taint.Allow && p.Clean(t.view.Level)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, k)
	switch {
	case !p.Judged() || c.Context.RunID == "" || !t.person && !byPolicy:
		s.spoil(k, at)
		return
	case s.spoiled(k, at), s.spoiled(serviceKey{}, at):
		return
	}
	if s.known == nil || len(s.known) >= mostActions { // what is forgotten is asked about
		s.known = make(map[serviceKey]action)
	}
	s.known[k] = action{
		conversation: t.convID, turn: turn, window: t.window(),
		agent: c.Agent(), tool: c.Tool, generation: t.view.Generation, at: at,
	}
}

// spoil notes that nothing on a service may be completed for a while. The caller holds the lock.
func (s *actions) spoil(k serviceKey, at time.Time) {
	maps.DeleteFunc(s.unseen, func(_ serviceKey, then time.Time) bool { return at.Sub(then) > completesWithin })
	if s.unseen == nil {
		s.unseen = make(map[serviceKey]time.Time)
	}
	if len(s.unseen) >= mostActions {
		k = serviceKey{}
	}
	s.unseen[k] = at
}

// spoiled reports whether nothing on a service may be completed now. The caller holds the lock.
func (s *actions) spoiled(k serviceKey, at time.Time) bool {
	then, found := s.unseen[k]
	return found && at.Sub(then) <= completesWithin
}

// forget takes away all that a conversation could have completed. The caller holds the lock.
func (s *actions) forget(conversation [16]byte) {
	maps.DeleteFunc(s.known, func(_ serviceKey, a action) bool { return a.conversation == conversation })
}

// hear forgets a call that did not do what was allowed, and what a conversation began that has ended.
func (s *actions) hear(h *eventEvaluation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := &h.event.Returned; {
	case h.event.Name == loop.SessionEnd:
		s.forget(h.convID)
	case h.event.Name == loop.AfterToolCall && (r.Error || r.Changed):
		delete(s.known, serviceKey{h.call.Client, h.rules.Service(h.call.Agent(), r.Tool)})
	}
}

// lets reports whether the call only completes the last call that acted on its
// service, in the same turn. No person may have been asked about this very call, this
// process must have seen all of the conversation, and no secret was read there.
func (s *actions) lets(t *evaluation) bool {
	a := t.last
	if a == nil || !t.plan.Completes || t.unheard() {
		return false
	}
	if a.conversation != t.convID || a.turn != turns.KeyOf(t.call) || a.window != t.window() || a.agent != t.call.Agent() || a.generation != t.view.Generation || a.tool == t.call.Tool {
		return false
	}
	if since := t.now().Sub(a.at); since < 0 || since > completesWithin || s.over(a.turn) || !bearsNothing(s.hide.shown(t)) {
		return false
	}
	t.because(policy.CompletesRule, "It only enters a code for the last call of "+a.tool+", which you approved in this turn or which was allowed before outside content came in")
	return true
}
