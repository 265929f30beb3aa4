package verifier

import (
	"slices"
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
)

// exposure remembers which conversations have read what needs caution, themselves or
// by way of others, and which of them this process has seen all of. That one holds
// secrets the store knows; only a process that has seen every call can say that it
// holds none: after a restart, or where several
// processes share the calls, none can, and that counts against the call.
type exposure struct {
	mu     sync.Mutex
	seen   recent.Map[[16]byte, *watched]
	adrift map[string]bool // clients of which any conversation may hold a secret of another
}

type watched struct {
	calls   int64    // seen here
	last    int64    // step: as many as its calls if all of them were seen here
	unseen  bool     // it has something of a conversation that was not all seen here
	sources []string // tools whose results need caution
}

const watchSize = 20_000

// saw counts a call that was admitted, and says what is known of its conversation.
func (w *exposure) saw(t *evaluation, v *session.View) session.Holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(t.convID)
	if !v.Replayed {
		one.calls++
	}
	one.last = max(one.last, v.Step)
	if one.whole() && !v.Lost && !w.adrift[t.conv.Client] {
		return session.HoldsNone
	}
	return session.MayHold
}

// whole reports whether this process has seen every call whose results the
// conversation may hold.
func (w *watched) whole() bool { return w.calls == w.last && !w.unseen }

// source notes that a result which needs caution is about to come in.
func (w *exposure) source(c session.Conversation, tool string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(c.ID()).cautious(tool)
}

func (w *watched) cautious(tool string) {
	if len(w.sources) < mostSources && !slices.Contains(w.sources, tool) {
		w.sources = append(w.sources, tool)
	}
}

// hand lets a conversation have what another one has read: results that need
// caution, and what this process has not seen. all says that the store has lost nothing
// of it.
func (w *exposure) hand(from, to session.Conversation, all bool) {
	if from == to {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	giver := w.look(from.ID())
	taker := w.find(to.ID())
	taker.unseen = taker.unseen || !all || giver.calls == 0 || !giver.whole()
	for _, tool := range giver.sources {
		taker.cautious(tool)
	}
}

// spread lets any conversation of a client have what this one has read: it went
// to one whose name is unknown.
func (w *exposure) spread(from session.Conversation, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.look(from.ID()); all && len(one.sources) == 0 && one.whole() {
		return
	}
	if w.adrift == nil {
		w.adrift = make(map[string]bool)
	}
	w.adrift[from.Client] = true
}

// blur notes that a conversation has read something of unknown origin.
func (w *exposure) blur(c session.Conversation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(c.ID()).unseen = true
}

// knows reports whether anything was seen here of a conversation.
func (w *exposure) knows(c session.Conversation) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(c.ID()) != &unknown
}

// sources names the tools whose results need caution and came in, and says
// whether these are all: whether this process has seen every call.
func (w *exposure) sources(c session.Conversation, v *session.View) (tools []string, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.find(c.ID())
	return slices.Clone(one.sources), one.whole() && !v.Lost && !w.adrift[c.Client]
}

// mostSources is how many of those tools are named.
const mostSources = 8

// unknown is what there is to know of a conversation that was not seen here.
var unknown watched

// look is what is known of a conversation, only to be read.
func (w *exposure) look(id [16]byte) *watched {
	if one, known := w.seen.Get(id); known {
		return one
	}
	return &unknown
}

func (w *exposure) find(id [16]byte) *watched {
	one, known := w.seen.Get(id)
	if !known {
		one = &watched{}
	}
	w.seen.Put(id, one, watchSize)
	return one
}
