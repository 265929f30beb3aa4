package verifier

import (
	"context"
	"strings"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// A subagent shares the state of the conversation that started it. After the owner's
// /new it is to see what the fresh conversation has read, and not what was read before:
// what sessions_spawn returns names the session that it started, so that a subagent
// belongs to where its parent's run counts. What a subagent reads counts for all, as
// before. The first word about a subagent stays: one from before the /new that is
// started once more has the old task in its context.

// kin knows which conversations share the state of another.
type kin struct {
	o        *Options
	exposure *exposure
	floor    *session.Floor
	roots    roots
	spawners recent.Shared[session.Conversation, string] // under which session id subagents count; empty: under none
}

// spawnerList names the list in which that is noted.
func spawnerList(child session.Conversation) string { return child.Hash() + ":spawner" }

const (
	mostSpawners = 64
	noSpawner    = "-"
	spawnersSize = 20_000
)

// spawned notes to which part of its conversation a subagent belongs that a call has
// started.
func (k *kin) spawned(ctx context.Context, h *eventEvaluation) error {
	r, own := &h.event.Returned, conversationOf(h.call)
	if h.event.Name != loop.AfterToolCall || r.Tool != "sessions_spawn" || r.Child == "" || r.Child == own.Key || r.Error {
		return nil
	}
	name := h.call.Context.SessionID
	if h.child {
		name = k.under(ctx, own, h.conv)
	}
	return k.note(ctx, session.Conversation{Client: own.Client, Key: r.Child}, h.conv, name)
}

func (k *kin) note(ctx context.Context, child, root session.Conversation, name string) error {
	text := noSpawner
	if strings.Contains(name, session.RenewedMark) {
		text = root.Hash() + " " + name
	}
	return k.o.Store.Note(ctx, session.SealNote(k.o.Key, spawnerList(child), mostSpawners, keepFresh, []byte(text)))
}

// under is the session id of the root's under which a subagent counts. It is
// empty where nothing says so, and then nothing that comes later does.
func (k *kin) under(ctx context.Context, child, root session.Conversation) string {
	if name, known := k.spawners.Get(child); known {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, k.o.StoreWait)
	defer cancel()
	for range 2 {
		entries, err := session.ReadNotes(ctx, k.o.Store, k.o.Key, spawnerList(child))
		if err != nil {
			return ""
		}
		if len(entries) > 0 {
			name := ""
			if under, ok := strings.CutPrefix(string(entries[0]), root.Hash()+" "); ok && len(entries) < mostSpawners {
				name = under
			}
			k.spawners.Put(child, name, spawnersSize)
			return name
		}
		if k.note(ctx, child, root, "") != nil {
			return ""
		}
	}
	return ""
}

// besideParent lets a subagent's call count where its parent's run does.
func (k *kin) besideParent(ctx context.Context, t *evaluation) {
	if !t.child || !session.IsSubagent(t.call.Context.SessionKey) {
		return
	}
	if name := k.under(ctx, conversationOf(t.call), t.conv); name != "" {
		t.session, t.spreads = name, true
	}
}

// spread lets what such a call brings in count for all session ids of the conversation,
// before it is allowed.
func (k *kin) spread(ctx context.Context, t *evaluation) *denial {
	if !t.spreads {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, k.o.budget(t))
	defer cancel()
	level := taint.Worse(taint.Worse(t.initial, t.brings), t.plan.Raise)
	if level >= session.Least {
		if err := k.o.Store.Raise(ctx, t.conv, level, t.plan.Source); err != nil {
			return k.o.storeFault(ctx, "raise", err)
		}
		k.floor.Raise(t.convID, "", session.Mark{Level: level, Generation: t.view.Generation})
	}
	if t.plan.Secret != "" {
		if err := k.o.Store.Expose(ctx, t.conv, t.plan.Secret); err != nil {
			return k.o.storeFault(ctx, "expose", err)
		}
	}
	return nil
}

// resolve finds the conversation whose state counts. A spawned session shares
// its root's, both ways; what it was before it was known as a child comes along.
func (k *kin) resolve(ctx context.Context, t *evaluation) (before taint.Level, err error) {
	if root, known := k.roots.known.Get(t.conv); known {
		t.move(root)
		return taint.System, nil
	}
	if !t.plan.Initiator.Spawned {
		return taint.System, nil
	}
	parent := session.Conversation{Client: t.conv.Client, Key: t.call.Context.SpawnedBy}
	if !t.conv.Lasting() || parent == t.conv {
		t.move(parent)
		return taint.System, nil
	}
	root, before, err := k.o.Store.Link(ctx, t.conv, parent)
	if err != nil {
		return taint.Untrusted, err
	}
	k.joined(t.conv, root, before)
	t.move(root)
	return before, nil
}

// joined notes whose state a child shares from now on. What it had read before it
// was known as a child, if it had met anything, comes along.
func (k *kin) joined(child, root session.Conversation, before taint.Level) {
	k.roots.note(child, root)
	if before > taint.System || k.exposure.knows(child) {
		k.exposure.hand(child, root, true)
	}
}

// roots remembers which conversations share another's state, so that a child
// costs no second trip. The store is the truth: it answers Moved.
type roots struct {
	known recent.Shared[session.Conversation, session.Conversation]
}

const rootsSize = 20_000

// at is where a conversation's state is, as far as that is known.
func (r *roots) at(c session.Conversation) session.Conversation {
	if root, known := r.known.Get(c); known {
		return root
	}
	return c
}

func (r *roots) note(child, root session.Conversation) {
	if child == root {
		return
	}
	r.known.Put(child, root, rootsSize)
}
