package verifier

import (
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// resultLevels remembers what calls bring in whose arguments make that better or
// worse than what their tool otherwise returns: a message that was sent, a page of
// a host that the owner trusts, a command that fetches, a secret. The event that tells of
// their result names the tool and not the arguments. What is forgotten, or was
// judged by another process, counts as what the tool returns otherwise.
type resultLevels struct {
	calls recent.Shared[resultKey, broughtIn]
}

// broughtIn is what a call brings in.
type broughtIn struct {
	level  taint.Level
	secret bool // it reads something that holds secrets

	waiting bool   // it was not released: people were asked, and had not answered
	denied  bool   // nor is it going to be: a person said no
	reads   string // of one that was not released: what it reads that holds secrets
}

// resultKey is one call, as the runtime that asked about it names it.
type resultKey struct{ client, session, call, tool string }

func resultKeyOf(c *toolcall.Call) resultKey {
	return resultKey{c.Client, c.Context.SessionKey, c.Context.ToolCallID, c.Tool}
}

// returnedKey is the call whose result an event reports.
func returnedKey(h *eventEvaluation) resultKey {
	return resultKey{h.call.Client, h.call.Context.SessionKey, h.event.Returned.ToolCallID, h.event.Returned.Tool}
}

const resultsSize = 5000

// note keeps what a call brings in that is about to be released, or that people are asked about: the user of a coding agent may
// let it run at the agent's own terminal.
func (m *resultLevels) note(t *evaluation, waiting bool) {
	k := resultKeyOf(t.call)
	if k.call == "" || k.session == "" {
		return
	}
	b := broughtIn{level: t.plan.Raise, secret: t.plan.Secret != "", waiting: waiting}
	if waiting {
		b.reads = t.plan.Secret
	}
	m.calls.Put(k, b, resultsSize)
}

// deny notes that a person said no to a call that people were asked about.
func (m *resultLevels) deny(t *evaluation) {
	k := resultKeyOf(t.call)
	if b, known := m.calls.Get(k); known {
		b.waiting, b.denied = false, true
		m.calls.Put(k, b, resultsSize)
	}
}

// of is what was said of the call that an event tells the result of.
func (m *resultLevels) of(h *eventEvaluation) (broughtIn, bool) {
	k := returnedKey(h)
	if k.call == "" || k.session == "" {
		return broughtIn{}, false
	}
	return m.calls.Get(k)
}
