package verifier

import (
	"time"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

// kinds are what a source is called in the graph.
var kinds = map[loop.Kind]provenance.Kind{
	loop.SystemPrompt: provenance.SystemPrompt, loop.UserMessage: provenance.Input,
	loop.ToolResult: provenance.ToolResult, loop.CompactedHistory: provenance.History,
}

// facts are what an event says of its turn.
func (h *eventEvaluation) facts(v *Verifier, a *loop.Answer) []provenance.Fact {
	e, now := h.event, time.Now().UnixMilli()
	switch e.Name { //nolint:exhaustive // the rest say nothing of it
	case loop.ContextAssembled:
		return h.sourceFacts(now)
	case loop.BeforeLLMCall:
		f := provenance.Fact{What: provenance.Asked, At: now, Level: h.level(v), Iteration: e.Iteration, Hash: string(e.Messages)}
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
		f := provenance.Fact{What: provenance.Said, At: now, Level: h.level(v)}
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
			level = taint.Worse(level, h.plan.Standing.Level)
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
