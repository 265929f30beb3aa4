package verifier

import (
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/taint"
)

// resultLevels remembers what calls bring in whose arguments make that better or
// worse than what their tool otherwise returns: a message that was sent, a page of
// a host that the owner trusts, a command that fetches. The event that tells of
// their result names the tool and not the arguments. What is forgotten, or was
// judged by another process, counts as what the tool returns otherwise.
type resultLevels struct {
	mu     sync.Mutex
	recent map[resultKey]taint.Level
	old    map[resultKey]taint.Level
}

// resultKey is one call, as the runtime that asked about it names it.
type resultKey struct{ client, session, call, tool string }

const resultsSize = 5000

// note keeps what a call brings in that is about to be released.
func (m *resultLevels) note(t *trace) {
	c := t.call
	if c.Context.ToolCallID == "" || c.Context.SessionKey == "" {
		return
	}
	k := resultKey{strings.Clone(c.Client), strings.Clone(c.Context.SessionKey), strings.Clone(c.Context.ToolCallID), strings.Clone(c.Tool)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil || len(m.recent) >= resultsSize {
		m.old, m.recent = m.recent, make(map[resultKey]taint.Level)
	}
	m.recent[k] = t.plan.Brings(t.view.Level)
}

// of is what was said of the call that an event tells the result of.
func (m *resultLevels) of(h *hearing) (taint.Level, bool) {
	c := h.call
	k := resultKey{c.Client, c.Context.SessionKey, h.event.Returned.ToolCallID, h.event.Returned.Tool}
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
