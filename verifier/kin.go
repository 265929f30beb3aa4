package verifier

import (
	"context"
	"strings"
	"sync"

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

// spawnerList names the list in which that is noted.
func spawnerList(child session.Conversation) string { return child.Hash() + ":spawner" }

const (
	mostSpawners = 64
	noSpawner    = "-"
)

// spawners remembers under which session id subagents count; empty: under none.
type spawners struct {
	mu    sync.Mutex
	names recent.Map[session.Conversation, string]
}

const spawnersSize = 20_000

func (s *spawners) of(child session.Conversation) (name string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names.Get(child)
}

func (s *spawners) keep(child session.Conversation, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names.Put(child.Clone(), name, spawnersSize)
}

// spawned notes to which part of its conversation a subagent belongs that a call has
// started.
func (v *Verifier) spawned(ctx context.Context, h *eventEvaluation) error {
	r, own := &h.event.Returned, conversationOf(h.call)
	if h.event.Name != loop.AfterToolCall || r.Tool != "sessions_spawn" || r.Child == "" || r.Child == own.Key || r.Error {
		return nil
	}
	name := h.call.Context.SessionID
	if h.child {
		name = v.spawnedUnder(ctx, own, h.conv)
	}
	return v.noteSpawner(ctx, session.Conversation{Client: own.Client, Key: r.Child}, h.conv, name)
}

func (v *Verifier) noteSpawner(ctx context.Context, child, root session.Conversation, name string) error {
	text := noSpawner
	if strings.Contains(name, session.RenewedMark) {
		text = root.Hash() + " " + name
	}
	return v.o.Store.Note(ctx, session.SealNote(v.o.Key, spawnerList(child), mostSpawners, keepFresh, []byte(text)))
}

// spawnedUnder is the session id of the root's under which a subagent counts. It is
// empty where nothing says so, and then nothing that comes later does.
func (v *Verifier) spawnedUnder(ctx context.Context, child, root session.Conversation) string {
	if name, known := v.spawners.of(child); known {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, v.o.StoreWait)
	defer cancel()
	for range 2 {
		entries, err := session.ReadNotes(ctx, v.o.Store, v.o.Key, spawnerList(child))
		if err != nil {
			return ""
		}
		if len(entries) > 0 {
			name := ""
			if under, ok := strings.CutPrefix(string(entries[0]), root.Hash()+" "); ok && len(entries) < mostSpawners {
				name = under
			}
			v.spawners.keep(child, name)
			return name
		}
		if v.noteSpawner(ctx, child, root, "") != nil {
			return ""
		}
	}
	return ""
}

// besideParent lets a subagent's call count where its parent's run does.
func (v *Verifier) besideParent(ctx context.Context, t *evaluation) {
	if !t.child || !session.IsSubagent(t.call.Context.SessionKey) {
		return
	}
	if name := v.spawnedUnder(ctx, conversationOf(t.call), t.conv); name != "" {
		t.session, t.spreads = name, true
	}
}

// spread lets what such a call brings in count for all session ids of the conversation,
// before it is allowed.
func (v *Verifier) spread(ctx context.Context, t *evaluation) *denial {
	if !t.spreads {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, v.budget(t))
	defer cancel()
	level := taint.Worse(taint.Worse(t.initial, t.brings), t.plan.Brings(&t.view))
	if level >= session.Least {
		if err := v.o.Store.Raise(ctx, t.conv, level, t.plan.Source); err != nil {
			return v.storeFault(ctx, "raise", err)
		}
		v.floor.Raise(t.convID, "", session.Mark{Level: level, Generation: t.view.Generation})
	}
	if t.plan.Secret != "" {
		if err := v.o.Store.Expose(ctx, t.conv, t.plan.Secret); err != nil {
			return v.storeFault(ctx, "expose", err)
		}
	}
	return nil
}
