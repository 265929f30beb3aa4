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
	outside []string // what came in from outside, see [exposure.brought]
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
	if !t.plan.Clean(t.initial) || !t.plan.Clean(v.Level) && len(one.outside) == 0 { // what it came by is not known here
		one.brings(anyOutside)
	}
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
	if len(giver.outside) > 0 {
		taker.brings(anyOutside)
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

// anyOutside is outside content of which more is not known.
const anyOutside = "*"

// mostOutside is how many origins of outside content are distinguished in a conversation.
const mostOutside = 16

// pageOf names pages of a host.
func pageOf(host string) string { return "page " + host }

// brings notes where outside content came from.
func (w *watched) brings(from string) {
	switch {
	case slices.Contains(w.outside, from):
	case len(w.outside) >= mostOutside:
		w.outside = []string{anyOutside}
	default:
		w.outside = append(w.outside, from)
	}
}

// brought notes that outside content is about to come into a conversation, and from where.
func (w *exposure) brought(id [16]byte, from string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(id).brings(from)
}

// onlyFrom reports whether all the outside content of a conversation is from where it may be. A process that has not seen all of a conversation can't
// say so, see [session.HoldsNone].
func (w *exposure) onlyFrom(id [16]byte, may func(from string) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.look(id)
	return one != &unknown && !slices.ContainsFunc(one.outside, func(from string) bool { return from == anyOutside || !may(from) })
}
