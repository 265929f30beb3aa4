package verifier

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// ownData knows which data only the owner writes, and which calls read such data, until their result comes in: it lets a call pass whose values
// all come from there. It is bounded and belongs to this process: what it does not know is outside content.
type ownData struct {
	o        *Options
	hide     *hiding
	exposure *exposure
	texts    *texts

	mu    sync.Mutex
	calls recent.Map[resultKey, bool] // whether the result is still to come
}

const mostOwnCalls = 1000

// ownOf names data of a service that only the owner writes.
func ownOf(service string) string { return "own " + service }

// note keeps a call that is about to be allowed.
func (d *ownData) note(t *evaluation) {
	k := resultKeyOf(t.call).clone()
	if t.plan.OwnData.Reads == "" || k.call == "" || k.session == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, again := d.calls.Get(k)
	d.calls.Put(k, !again, mostOwnCalls) // an id that comes twice names no call
}

// returned reports whether an event is the result of such a call, as the call gave it. Each has one. An error, what the runtime marks, and what has a
// place of its own may be written by others.
func (d *ownData) returned(h *eventEvaluation) bool {
	r := &h.event.Returned
	if h.event.Name != loop.AfterToolCall || r.Changed || r.Error || r.Marked || r.Origin != "" || r.ToolCallID == "" {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	k := returnedKey(h).clone()
	if due, _ := d.calls.Get(k); !due {
		return false
	}
	d.calls.Put(k, false, mostOwnCalls)
	return true
}

// keepForeign is how long it is known that data of a service may be others': longer than any gateway runs.
const keepForeign = 20 * 365 * 24 * time.Hour

// foreignList is where that is kept. All clients share it: they may have the same account.
func foreignList(service string) string {
	return session.Conversation{Client: "(own data)", Key: service}.Hash() + ":foreign"
}

// isOwnersAlone reports whether nothing in the conversation was written by others: it is clean, or all that came in is data that only the owner writes.
// After a reset of its level it still holds what it held before.
func (d *ownData) isOwnersAlone(ctx context.Context, t *evaluation) bool {
	level := t.view.Level
	if t.plan.Shell { // what it writes may be what it fetches
		level = taint.Worse(level, t.plan.Brings(&t.view))
	}
	switch {
	case !t.plan.Owners(t.call) || t.view.Lost:
		return false
	case t.plan.Clean(level) && level < taint.Shared:
		return t.view.Generation == 0
	}
	return !t.plan.Shell && t.view.Secrets == session.HoldsNone && d.only(ctx, t)
}

// taints notes, before the call is allowed, that it may write what others wrote into data that only the owner has written so far.
func (d *ownData) taints(ctx context.Context, t *evaluation) *denial {
	if d.isOwnersAlone(ctx, t) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.o.budget(t))
	defer cancel()
	if err := MarkForeign(ctx, d.o.Store, t.plan.OwnData.Taint); err != nil {
		return d.o.storeFault(ctx, "note", err)
	}
	return nil
}

// MarkForeign notes that others may have written data of these services.
func MarkForeign(ctx context.Context, store Store, services []string) error {
	var notes []session.Note
	for _, service := range services {
		notes = append(notes, session.Note{List: foreignList(service), Most: 1, Keep: keepForeign, Entries: [][]byte{[]byte("foreign")}})
	}
	if len(notes) == 0 {
		return nil
	}
	return store.Note(ctx, notes...)
}

// ranUnasked notes the same of a call that was not released here and has run all the same, or that was another than the one that was asked about.
func (d *ownData) ranUnasked(ctx context.Context, h *eventEvaluation, released bool) *denial {
	r := &h.event.Returned
	services := h.rules.MayWriteOwn(h.call.Agent(), r.Tool)
	if r.Changed {
		services, released = h.rules.OwnServices(), false
	}
	if h.event.Name != loop.AfterToolCall || released || len(services) == 0 || d.isOwnersEvent(ctx, h) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.o.StoreWait)
	defer cancel()
	if err := MarkForeign(ctx, d.o.Store, services); err != nil {
		return d.o.storeFault(ctx, "note", err)
	}
	return nil
}

// isOwnersEvent is [ownData.isOwnersAlone] for the conversation as it was before the event.
func (d *ownData) isOwnersEvent(ctx context.Context, h *eventEvaluation) bool {
	h.plan.Initiator, _ = h.rules.Start(h.call)
	if !h.heard.Known || h.heard.Lost || h.heard.Generation != 0 || !h.plan.Owners(h.call) {
		return false
	}
	return h.heard.Before < min(taint.Shared, h.rules.TaintedFrom()) || d.only(ctx, h.evaluation)
}

// isForeign reports whether others may have written data of one of these services. What can't be told counts so, and a mark that is not ours does too.
func (d *ownData) isForeign(ctx context.Context, t *evaluation, services []string) bool {
	ctx, cancel := context.WithTimeout(ctx, d.o.StoreWait)
	defer cancel()
	return slices.ContainsFunc(services, func(service string) bool {
		marks, err := d.o.Store.Notes(ctx, foreignList(service))
		if err != nil {
			d.o.Log.WarnContext(ctx, "it could not be looked up who wrote the owner's data", "request", d.hide.request(t.call), "err", err)
		}
		return err != nil || len(marks) > 0
	})
}

// lets reports whether all that came into the conversation from outside is data that only the owner writes, and each of the call's values is from there
// or from the user's messages. That others may have written there is looked up once more right before the call is allowed, see [quiet.holds].
func (d *ownData) lets(ctx context.Context, t *evaluation) bool {
	if !t.plan.OwnData.May || t.unheard() || !bearsNothing(d.hide.shown(t)) || !d.only(ctx, t) || !d.values(ctx, t) {
		return false
	}
	t.because(policy.OwnRule, "All of its values came from data that only you write, or from your messages, and nothing else came in from outside")
	return true
}

// only reports whether all that came in from outside is such data, and still is.
func (d *ownData) only(ctx context.Context, t *evaluation) bool {
	services := d.exposure.own(t.convID)
	return len(services) > 0 && !d.isForeign(ctx, t, services)
}

// values reports whether each value of the call is one that such a tool returned, or what the user said.
func (d *ownData) values(ctx context.Context, t *evaluation) bool {
	keys := d.o.Lineage(t.call.Client)
	if len(keys) == 0 {
		return false
	}
	ctx, done := t.patience(ctx)
	defer done()
	arguments, err := d.texts.compare(ctx, t, keys)
	if err != nil {
		d.o.Log.WarnContext(ctx, "it could not be looked up where arguments came from", "request", d.hide.request(t.call), "err", err)
		return false
	}
	other := func(a lineage.Argument) bool {
		return a.Cut || a.From != lineage.User && (!a.Whole || a.Source.Secret || !t.rules.IsOwn(t.call.Agent(), a.Source.Tool))
	}
	return len(arguments) > 0 && len(arguments) < lineage.MaxArguments && !slices.ContainsFunc(arguments, other)
}
