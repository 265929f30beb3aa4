package verifier

import (
	"context"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// repeats remembers, for each conversation, which commands that only read, build or test were allowed before outside content came in, or by a person
// who said yes to that very call. It is bounded and belongs to this process: what it does not know is asked about.
type repeats struct {
	mu    sync.Mutex
	known recent.Map[repeatKey, bool]
}

// repeatKey is a call in a conversation.
type repeatKey struct {
	conversation  [16]byte
	window, agent string
	generation    int64  // a reset forgets what was allowed before it
	call          string // its digest, with the directory
}

const mostRepeats = 10_000

func (t *evaluation) repeatKey() repeatKey {
	return repeatKey{t.convID, strings.Clone(t.window()), strings.Clone(t.call.Agent()), t.view.Generation, t.sum()}
}

// allowed remembers a call that may be repeated.
func (s *repeats) allowed(t *evaluation) {
	byPolicy := t.verdict.Mode == taint.Allow && t.plan.Clean(t.view.Level)
	if !t.plan.Repeats || t.again() || !t.person && !byPolicy {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(t.repeatKey(), true, mostRepeats)
}

// asked forgets a call that is put to people: only their yes brings it back.
func (s *repeats) asked(t *evaluation) {
	if !t.plan.Repeats {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(t.repeatKey(), false, mostRepeats)
}

func (s *repeats) has(k repeatKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	may, _ := s.known.Get(k)
	return may
}

// repeated reports whether the very call was allowed before in this conversation, and a person has seen all that was written into the workspace since
// outside content came in. That is looked up once more right before the call is allowed, see [Verifier.overtaken].
func (v *Verifier) repeated(ctx context.Context, t *evaluation) bool {
	if !t.plan.Repeats || !t.verdict.LevelAlone || t.view.Lost || t.view.Secrets != session.HoldsNone || !v.repeats.has(t.repeatKey()) || !bearsNothing(v.secrets(t)) || v.unseen(ctx, t) != nil {
		return false
	}
	t.view.Workspace = session.AllSeen
	t.verdict.Why = append(t.verdict.Why, policy.Step{
		Rule: policy.RepeatRule, Text: "This very command was allowed before in this conversation. It only reads, builds or tests, and you have seen all that was written into the workspace since outside content came in: allow.", Mode: taint.Allow,
	})
	return true
}
