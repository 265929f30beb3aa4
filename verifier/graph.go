package verifier

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
)

// addCall adds a decision to the graph of its turn. What was allowed by its level or a grant waits in memory for a moment; the rest is
// noted in the store with all before it.
func (rec *recorder) addCall(ctx context.Context, t *evaluation, n *denial) {
	if n != nil && n.kind == crashKind || t.view.Version == 0 || t.again() || t.plan.Class() == "wrapper" {
		return
	}
	news := turns.News{
		Turn: turns.KeyOf(t.call), Root: t.conv, Agent: t.call.Agent(), Facts: []provenance.Fact{callFact(t, n)},
		Persist: t.verdict.PersistGraph, Offline: n != nil && n.kind == faultStore, Report: t.settings.Keep,
	}
	switch {
	case t.ruling.Paused || t.ruling.Stopped:
	case n != nil:
		news.When, news.Ref = turns.Now, t.ref()
	case t.person:
		news.When, news.Ref = turns.Now, t.ruling.Ref
	}
	_, _ = rec.turns.Add(ctx, &news) // no call ends a turn
}

// callFact is what a call that was decided, and counted, says of its turn.
func callFact(t *evaluation, n *denial) provenance.Fact {
	f := provenance.Fact{
		What: provenance.Called, At: t.decided.UnixMilli(), Start: t.plan.Initiator.Level, Level: t.view.Level, Allowed: n == nil,
		Tool: t.call.Tool, ID: t.call.Context.ToolCallID, Iteration: t.call.Context.Iteration,
		Metadata: provenance.Metadata{Label: t.plan.Source, Ref: t.ruling.Ref, Step: t.view.Step},
	}
	if t.call.Sent != t.call.Tool {
		f.Sent = t.call.Sent
	}
	if n == nil {
		f.By, f.Brings = t.by, t.plan.Raise
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

// addEvent adds an event to the graph of its turn. What a tool returned waits in memory for a moment, as its call does. The end of a
// turn is answered with what the turn was informed by.
func (l *listener) addEvent(ctx context.Context, h *eventEvaluation, a *loop.Answer) error {
	if h.heard.Replayed {
		return nil
	}
	facts := l.facts(h, a)
	if len(facts) == 0 {
		return nil
	}
	news := turns.News{
		Turn: turns.KeyOf(h.call), Root: h.conv, Agent: h.call.Agent(), Facts: facts, When: turns.Now,
		Ends: h.endsTurn(), Report: h.settings.Keep,
	}
	if h.event.Name == loop.AfterToolCall {
		news.When = turns.Soon
	}
	g, err := l.turns.Add(ctx, &news)
	if g != nil && h.event.Name == loop.BeforeResponseEmit {
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

// kinds are what a source is called in the graph.
var kinds = map[loop.Kind]provenance.Kind{
	loop.SystemPrompt: provenance.SystemPrompt, loop.UserMessage: provenance.Input,
	loop.ToolResult: provenance.ToolResult, loop.CompactedHistory: provenance.History,
}

// facts are what an event says of its turn.
func (l *listener) facts(h *eventEvaluation, a *loop.Answer) []provenance.Fact {
	e, now := h.event, time.Now().UnixMilli()
	switch e.Name { //nolint:exhaustive // the rest say nothing of it
	case loop.ContextAssembled:
		return h.sourceFacts(now)
	case loop.BeforeLLMCall:
		f := provenance.Fact{What: provenance.Asked, At: now, Level: l.level(h), Iteration: e.Iteration, Hash: string(e.Messages)}
		f.Model = e.Model
		return withBlock(now, a, f)
	case loop.AfterLLMCall:
		for i := range h.taken {
			h.taken[i].At = now
		}
		return withBlock(now, a, append(h.answered(now), h.taken...)...)
	case loop.LoopIterationStart:
		return withBlock(now, a)
	case loop.AfterToolCall:
		return []provenance.Fact{h.resultFact(now)}
	case loop.BeforeResponseEmit:
		f := provenance.Fact{What: provenance.Said, At: now, Level: l.level(h)}
		if e.Content != nil {
			f.Hash = string(e.Content.Hash)
		}
		return []provenance.Fact{f, {What: provenance.Ended, At: now}}
	}
	if h.endsTurn() {
		return []provenance.Fact{{What: provenance.Ended, At: now}}
	}
	return nil
}

// answered is what a call of the model took, if the runtime says.
func (h *eventEvaluation) answered(now int64) []provenance.Fact {
	e := h.event
	if e.LatencyMs == 0 && e.Tokens.Total == 0 {
		return nil
	}
	return []provenance.Fact{{
		What: provenance.Answered, At: now,
		Metadata: provenance.Metadata{Model: e.Model, DurationMs: e.LatencyMs, Tokens: e.Tokens.Total},
	}}
}

// sourceFacts are what the context was made of. What the runtime says nothing of
// is worth what the start of the run is.
func (h *eventEvaluation) sourceFacts(now int64) (facts []provenance.Fact) {
	for i := range h.event.Sources {
		s := &h.event.Sources[i]
		level := h.sourceLevel(s)
		if s.Trust == nil && s.Kind != loop.SystemPrompt {
			level = taint.Worse(level, h.plan.Initiator.Level)
		}
		f := provenance.Fact{What: provenance.Held, At: now, Kind: kinds[s.Kind], Level: level, Tool: s.Tool, Sent: s.Sent, Hash: string(s.Hash)}
		f.Size = s.Size
		facts = append(facts, f)
	}
	return facts
}

func withBlock(now int64, a *loop.Answer, facts ...provenance.Fact) []provenance.Fact {
	if a.Block {
		facts = append(facts, provenance.Fact{What: provenance.Blocked, At: now, Reason: a.BlockReason})
	}
	return facts
}

func (h *eventEvaluation) resultFact(now int64) provenance.Fact {
	r := &h.event.Returned
	return provenance.Fact{
		What: provenance.Returned, At: now, Level: h.returned, Tool: r.Tool, Sent: r.Sent, ID: r.ToolCallID, Hash: string(r.Hash),
		Metadata: provenance.Metadata{Label: h.report.Source, Size: r.Size, DurationMs: r.DurationMs, Error: r.Error},
	}
}
