package verifier

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// anyOutside stands for outside content of which more is not known.
const anyOutside = "*"

// mostOutside is how many origins of outside content are told apart in a conversation.
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
		w.outside = append(w.outside, strings.Clone(from))
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

// notesOutside notes where what an allowed call brings in is from, before it is allowed.
func (v *Verifier) notesOutside(t *evaluation) {
	if t.plan.Clean(taint.Worse(t.plan.Brings(&t.view), t.brings)) {
		return
	}
	from := anyOutside
	switch {
	case t.plan.Page.Host != "":
		from = pageOf(t.plan.Page.Host)
	case t.plan.OwnData.Reads != "":
		from = ownOf(t.plan.OwnData.Reads)
		v.ownCalls.note(t)
	}
	v.exposure.brought(t.convID, from)
}

// hearsOutside notes where outside content is from that an event tells of. The result of a call is noted with the call, where that is known.
func (v *Verifier) hearsOutside(h *eventEvaluation) {
	if h.report.Raise < taint.Shared || h.heard.Replayed || v.sites.returned(h) || v.ownCalls.returned(h) {
		return
	}
	v.exposure.brought(h.convID, anyOutside)
}

// unheard reports what keeps every quiet reason from a call besides its own conditions: something else than the level asks, nobody knows what the
// conversation holds, it holds secrets, or a person was asked about this very call before.
func (t *evaluation) unheard() bool {
	return !t.verdict.LevelAlone || t.view.Lost || t.view.Secrets != session.HoldsNone || t.view.Waiting != ""
}
