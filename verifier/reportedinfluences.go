package verifier

import (
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// reportedInfluences remembers who had a say in a conversation as far as the store knows
// it: a call that changes nothing there costs it nothing. What is forgotten is
// reported again.
type reportedInfluences struct {
	told recent.Shared[say, int64] // by generation: after a reset all is reported again
}

// say is what a call means for the account of its conversation.
type say struct {
	session.Conversation
	session        string
	sender, source string
	initial, raise taint.Level
}

const saysSize = 20_000

func sayOf(t *evaluation) (s say, matters bool) {
	initial := t.initial
	s = say{Conversation: t.conv, session: t.session, initial: initial, raise: t.plan.Raise}
	if initial >= session.Least {
		s.sender = t.plan.Initiator.Why
	}
	if t.plan.Raise >= session.Least {
		s.source = t.plan.Source
	}
	return s, initial >= session.Least || t.plan.Raise >= session.Least
}

// untold reports whether the store may not know yet who has a say by this call.
func (s *reportedInfluences) untold(t *evaluation, generation int64) bool {
	k, matters := sayOf(t)
	if !matters {
		return false
	}
	told, known := s.told.Get(k)
	return !known || told != generation
}

// tell notes that it does now.
func (s *reportedInfluences) tell(t *evaluation, generation int64) {
	k, _ := sayOf(t)
	s.told.Put(k, generation, saysSize)
}
