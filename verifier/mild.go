package verifier

import (
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/taint"
)

// mild remembers the calls of which a rule said that they bring in less than their
// tool otherwise does: a message that was sent, a page of a host that the owner
// trusts. The event that tells of their result names the tool and not the
// arguments. What is forgotten, or was judged by another process, counts as what
// the tool returns otherwise.
type mild struct {
	mu     sync.Mutex
	recent map[mildKey]taint.Level
	old    map[mildKey]taint.Level
}

// mildKey is one call, as the runtime that asked about it names it.
type mildKey struct{ client, session, call, tool string }

const mildSize = 5000

// note keeps what a call brings in that is about to be released.
func (m *mild) note(t *trace) {
	c := t.call
	if c.Context.ToolCallID == "" || c.Context.SessionKey == "" {
		return
	}
	k := mildKey{strings.Clone(c.Client), strings.Clone(c.Context.SessionKey), strings.Clone(c.Context.ToolCallID), strings.Clone(c.Tool)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil || len(m.recent) >= mildSize {
		m.old, m.recent = m.recent, make(map[mildKey]taint.Level)
	}
	m.recent[k] = t.plan.Raise
}

// of is what was said of the call that an event tells the result of.
func (m *mild) of(h *hearing) (taint.Level, bool) {
	c := h.call
	k := mildKey{c.Client, c.Context.SessionKey, h.event.Returned.ToolCallID, h.event.Returned.Tool}
	if k.call == "" || k.session == "" {
		return taint.Untrusted, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	level, known := m.recent[k]
	if !known {
		level, known = m.old[k]
	}
	return level, known
}
