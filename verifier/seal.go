package verifier

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func (v *Verifier) keepTurns() time.Duration {
	if keep := v.o.Settings().Provenance.Keep; keep > 0 {
		return keep
	}
	return provenance.DefaultKeep
}

// drew keeps what a decision adds to the graph of its turn. What was allowed by
// its level or a grant waits in memory for a moment (see KeepTurns); the rest is
// noted in the store with all before it. A pause or a stop may end many calls at
// once: those wait too.
func (v *Verifier) drew(ctx context.Context, t *evaluation, n *denial) {
	if n != nil && n.kind == crashKind || t.view.Version == 0 || t.again() || t.plan.Class() == "wrapper" {
		return
	}
	now, over := v.turns.add(t, heardOf{facts: []provenance.Fact{t.fact(n)}, persist: t.settings.Provenance.Persist || t.verdict.PersistGraph})
	if n != nil && n.kind == faultStore {
		return
	}
	if over != nil {
		v.superseded(ctx, t, over)
	}
	switch {
	case t.ruling.Paused || t.ruling.Stopped:
	case n != nil:
		v.note(ctx, now, t.ref())
	case t.person:
		v.note(ctx, now, t.ruling.Ref)
	}
}

// fact is what a call that was decided, and counted, says of its turn.
func (t *evaluation) fact(n *denial) provenance.Fact {
	tool, id := len(t.call.Tool), len(t.call.Context.ToolCallID)
	own := t.call.Tool + t.call.Context.ToolCallID + t.plan.Source // one piece of memory, that is not the call's
	f := provenance.Fact{
		What: provenance.Called, At: t.decided.UnixMilli(), Start: t.plan.Standing.Level, Level: t.view.Level, Allowed: n == nil,
		Tool: own[:tool], ID: own[tool : tool+id], Iteration: t.call.Context.Iteration,
		Metadata: provenance.Metadata{Label: own[tool+id:], Ref: t.ruling.Ref, Step: t.view.Step},
	}
	if t.call.Sent != t.call.Tool {
		f.Sent = strings.Clone(t.call.Sent)
	}
	if n == nil {
		f.By, f.Brings = t.by, t.plan.Brings(&t.view)
		if t.view.After > t.view.Level {
			f.Brings = taint.Worse(f.Brings, t.view.After)
		}
		return f
	}
	f.Reason, f.Ref = n.kind, t.ref()
	level := min(t.view.Level, taint.Untrusted)
	f.Tainted = t.plan.Modes[taint.System] < t.plan.Modes[level]
	return f
}

// draw adds an event to the graph of its turn. What a tool returned waits in memory
// for a moment, as its call does (see KeepTurns). The end of a turn seals it, and is
// told what the turn was informed by.
func (v *Verifier) draw(ctx context.Context, h *eventEvaluation, a *loop.Answer) error {
	if h.heard.Replayed {
		return nil
	}
	facts := h.facts(v, a)
	if len(facts) == 0 {
		return nil
	}
	now, over := v.turns.add(h.evaluation, heardOf{facts, h.endsTurn(), h.settings.Provenance.Persist})
	if over != nil {
		v.superseded(ctx, h.evaluation, over)
	}
	if h.event.Name != loop.AfterToolCall || v.turns.halfFull(now) {
		v.note(ctx, now, "")
	}
	if !h.endsTurn() {
		return nil
	}
	g, err := v.seal(ctx, now)
	if g != nil && h.event.Name == loop.BeforeResponseEmit && h.settings.Provenance.Footer {
		h.footer(a, g.Footer())
	}
	return err
}

// endsTurn reports whether nothing more is to come of the turn.
func (h *eventEvaluation) endsTurn() bool {
	switch h.event.Name { //nolint:exhaustive // the others go on
	case loop.BeforeResponseEmit, loop.AgentEnd:
		return true
	case loop.SessionEnd:
		return h.call.Context.RunID == ""
	}
	return false
}

// superseded ends a turn whose conversation is in another run by now: what was
// granted for it ends too, in every instance that shares the store.
func (v *Verifier) superseded(ctx context.Context, t *evaluation, over *turn) {
	if !v.turns.matters(over) {
		return // all of it was allowed by its level: nobody was asked, nothing granted
	}
	v.note(ctx, over, "")
	if _, err := v.seal(ctx, over); err != nil {
		v.o.Log.ErrorContext(ctx, "the graph of a turn could not be recorded", "turn", over.id, "err", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.o.StoreWait)
	defer cancel()
	_, err := v.o.Store.Hear(ctx, session.Report{
		Conversation: over.root, RequestID: "run over " + over.id, Body: sha256.Sum256([]byte(over.id)), // no call can have an id with a space
		Keep: t.settings.Keep, Ended: over.run,
	})
	if err != nil {
		v.o.Log.WarnContext(ctx, "what was granted for a run that is over could not be ended in the store", "turn", over.id, "err", err)
	}
}

// seal logs how a turn ended, and records its graph where that is wanted; once.
// The graph is nil where it could not be read.
func (v *Verifier) seal(ctx context.Context, n *turn) (*provenance.Graph, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.o.StoreWait)
	defer cancel()
	g, err := v.graph(ctx, n.id)
	first, persist := v.turns.seal(n)
	if err != nil {
		v.o.Log.WarnContext(ctx, "a turn that is over could not be read", "turn", n.id, "err", err)
		if persist && first {
			return nil, err
		}
		return nil, nil
	}
	if !first || len(g.Nodes) == 0 {
		return g, nil
	}
	s := &g.Summary
	v.o.Log.InfoContext(ctx, "a turn ended", "turn", g.TurnID, "distrust", s.MaxTaint.String(), "outside", s.ExternalSources,
		"blocked", s.ToolsBlocked, "iterations", s.IterationCount)
	if !persist {
		return g, nil
	}
	return g, v.persist(g, n)
}

// persist puts a graph into the record.
func (v *Verifier) persist(g *provenance.Graph, n *turn) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return v.o.Record.Append(audit.Entry{
		Kind: audit.KindGraph, Client: n.Client, Session: n.Key, Agent: g.AgentID, Run: n.run,
		Level: g.Summary.MaxTaint.String(), Graph: text,
	})
}
