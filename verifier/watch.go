package verifier

import (
	"slices"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/session"
)

// watch remembers which conversations have read secrets or what needs caution. Only a process that has
// seen every call of a conversation can say that it holds none: after a restart,
// or where several processes share the calls, nobody can, and that counts
// against the call.
type watch struct {
	mu     sync.Mutex
	recent map[[16]byte]*watched
	old    map[[16]byte]*watched
}

type watched struct {
	calls   int64 // seen here
	last    int64 // step: as many as its calls if all of them were seen here
	secrets bool
	sources []string // tools whose results need caution
	tools   []string // called, oldest first; only while a policy asks
	told    int64    // how many of the calls were noted there
}

const watchSize = 20_000

// saw counts a call that was admitted, and says what is known of its conversation.
func (w *watch) saw(c session.Conversation, v *session.View, tool string) session.Holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(c.ID())
	if !v.Replayed {
		one.calls++
		if tool != "" {
			one.note(tool, v)
		}
	}
	one.last = max(one.last, v.Step)
	switch {
	case one.secrets:
		return session.Holds
	case one.calls == one.last && !v.Lost:
		return session.HoldsNone
	}
	return session.MayHold
}

// mostTools is how many calls of a conversation a policy can look back on.
const mostTools = 64

// note keeps what was called, and tells the view what was called before.
func (w *watched) note(tool string, v *session.View) {
	if w.told++; w.told == w.calls && max(w.last, v.Step) == w.calls {
		v.History = append([]string{}, w.tools...)
	}
	w.tools = append(w.tools[max(0, len(w.tools)-mostTools+1):], strings.Clone(tool))
}

// secret notes that a call which bears secrets is about to be released.
func (w *watch) secret(c session.Conversation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(c.ID()).secrets = true
}

// source notes that a result which needs caution is about to come in.
func (w *watch) source(c session.Conversation, tool string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(c.ID())
	if len(one.sources) < mostSources && !slices.Contains(one.sources, tool) {
		one.sources = append(one.sources, strings.Clone(tool))
	}
}

// hand lets a conversation have what another one has read.
func (w *watch) hand(from, to session.Conversation) {
	w.mu.Lock()
	sources := slices.Clone(w.find(from.ID()).sources)
	w.mu.Unlock()
	for _, tool := range sources {
		w.source(to, tool)
	}
}

// sources names the tools whose results need caution and came in, and says
// whether these are all: whether this process has seen every call.
func (w *watch) sources(c session.Conversation, v *session.View) (tools []string, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(c.ID())
	return slices.Clone(one.sources), one.calls == one.last && !v.Lost
}

// mostSources is how many of those tools are named.
const mostSources = 8

func (w *watch) find(id [16]byte) *watched {
	if one := w.recent[id]; one != nil {
		return one
	}
	one := w.old[id]
	if one == nil {
		one = &watched{}
	}
	if w.recent == nil || len(w.recent) >= watchSize {
		w.old, w.recent = w.recent, make(map[[16]byte]*watched)
	}
	w.recent[id] = one
	return one
}
