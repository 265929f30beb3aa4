package verifier

import (
	"context"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// repeats remembers, for each conversation, which commands that only read, build or test were allowed before outside content came in, or by a person
// who said yes to that very call. It is bounded and belongs to this process: what it does not know is asked about.
type repeats struct {
	o         *Options
	hide      *hiding
	workspace *workspace
	question  func(context.Context, *evaluation) *approval.Ask // what people would be asked about a call

	mu    sync.Mutex
	known recent.Map[[16]byte, map[repeatKey]repeatable] // by conversation
}

// repeatKey is a call in a conversation.
type repeatKey struct {
	window, agent string
	generation    int64  // a reset forgets what was allowed before it
	workspace     string // as the runtime says
	call          string // its digest, with the directory
}

// repeatable is what let a call pass that may be repeated.
type repeatable struct {
	byPolicy bool   // before outside content came in; otherwise
	by       string // people did
	others   int64  // how often calls of other clients had written unseen by then
}

const (
	mostRepeating = 1000 // conversations
	mostRepeats   = 200  // commands of one
)

func repeatKeyOf(t *evaluation) repeatKey {
	return repeatKey{strings.Clone(t.window()), strings.Clone(t.call.Agent()), t.view.Generation, strings.Clone(t.call.Context.Workspace), t.sum()}
}

// allowed remembers a call that may be repeated.
func (s *repeats) allowed(t *evaluation) {
	byPolicy := t.verdict.Mode == taint.Allow && t.plan.Clean(t.view.Level) && t.plan.Judged()
	if t.again() || !t.person && !byPolicy {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, _ := s.known.Get(t.convID)
	if len(calls) >= mostRepeats || calls == nil {
		calls = make(map[repeatKey]repeatable)
	}
	calls[repeatKeyOf(t)] = repeatable{byPolicy: byPolicy, by: t.ruling.Givers(), others: s.workspace.others(t.call.Client)}
	s.known.Put(t.convID, calls, mostRepeating)
}

// asked forgets a call that is put to people: only their yes brings it back.
func (s *repeats) asked(t *evaluation) {
	if !t.plan.Repeats {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, _ := s.known.Get(t.convID)
	delete(calls, repeatKeyOf(t))
}

// hear forgets what was allowed in a conversation that has ended.
func (s *repeats) hear(h *eventEvaluation) {
	if h.event.Name != loop.SessionEnd {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, _ := s.known.Get(h.convID)
	clear(calls)
}

// find is what let the very call pass before.
func (s *repeats) find(t *evaluation) (found repeatable, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, _ := s.known.Get(t.convID)
	found, known = calls[repeatKeyOf(t)]
	return found, known && found.others == s.workspace.others(t.call.Client)
}

// lets reports whether the very call was allowed before in this conversation, and a person has seen all that was written into the workspace since
// outside content came in. That is looked up once more right before the call is allowed, see [quiet.holds].
func (s *repeats) lets(ctx context.Context, t *evaluation) bool {
	if !t.plan.Repeats || !t.verdict.LevelAlone || t.view.Lost || t.view.Secrets != session.HoldsNone || !bearsNothing(s.hide.shown(t)) || !s.mayRepeat(ctx, t) {
		return false
	}
	t.view.Workspace = session.AllSeen
	t.because(policy.RepeatRule, "This very command was allowed before in this conversation. It only reads, builds or tests, and you have seen all that was written into the workspace since outside content came in")
	return true
}

// mayRepeat reports whether the very call was allowed before, those who said yes may still do so, and nothing was written unseen.
func (s *repeats) mayRepeat(ctx context.Context, t *evaluation) bool {
	before, known := s.find(t)
	return known && s.workspace.unseen(ctx, t) == nil && (before.byPolicy || s.o.Grants.Covers(before.by, *s.question(ctx, t)))
}
