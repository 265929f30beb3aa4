package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// What a call or an event tells of its turn goes into the record, from which the turn's graph is drawn. It decides
// nothing.

// turnOf names the turn that a call belongs to: a run, or where runs are not named a session id.
func turnOf(c *protocol.Call) provenance.Key {
	k := provenance.Key{Client: c.Client, Session: c.Context.SessionKey, Run: c.Context.RunID}
	if k.Run == "" {
		k.SessionID = c.Context.SessionID
	}
	return k
}

// partOf is what a decision says of its turn.
func (v *Verifier) partOf(e *evaluation, out *record.Entry) {
	if !e.judged || e.replay || e.plan.Class() == "wrapper" || out.Error == crashKind {
		return
	}
	if e.verdict.PersistGraph {
		v.turns.Keep(turnOf(e.call), time.Now())
	}
	x := &e.call.Context
	p := &record.Part{Call: x.ToolCallID, Iteration: x.Iteration, Birth: e.start.Level.String(), Label: e.plan.Source}
	switch {
	case out.Decision != record.Allow:
		p.Tainted = e.plan.Modes[taint.System] < e.plan.Modes[min(e.view.Level, taint.Untrusted)]
	case e.after > e.view.Level:
		p.Trust = taint.Worse(e.plan.Raise, e.after).String()
	default:
		p.Trust = e.plan.Raise.String()
	}
	out.Turn, out.Part = v.turns.ID(turnOf(e.call), time.Now()), p
}

// tell works out what an event tells of its turn, and whether nothing more is to come of that.
func (v *Verifier) tell(h *event, a *protocol.Answer) (ends bool) {
	e, r := h.event, &h.event.Returned
	add := func(p record.Part) { h.parts = append(h.parts, p) }
	switch e.Name { //nolint:exhaustive // the others tell nothing of it
	case protocol.ContextAssembled:
		p := record.Part{What: record.PartContext}
		for i := range e.Sources {
			s := &e.Sources[i]
			level := h.sourceLevel(s)
			if s.Trust == nil && s.Kind != protocol.KindSystemPrompt {
				level = taint.Worse(level, h.start.Level)
			}
			tool := v.hide.toolName(s.Tool, s.Sent)
			p.Sources = append(p.Sources, record.Source{
				Kind: string(s.Kind), Trust: level.String(), Tool: tool, Hash: string(s.Hash), Size: s.Size,
			})
		}
		p.Sources = provenance.Fewer(p.Sources)
		add(p)
	case protocol.BeforeLLMCall:
		add(record.Part{What: record.PartAsked, Iteration: e.Iteration, Hash: string(e.Messages), Model: e.Model})
	case protocol.AfterLLMCall: // before the calls that were taken out
		p := record.Part{What: record.PartAnswered, Model: e.Model, DurationMs: e.LatencyMs, Tokens: e.Tokens.Total}
		h.parts = append([]record.Part{p}, h.parts...)
	case protocol.AfterToolCall:
		add(record.Part{
			What: record.PartReturned, Call: r.ToolCallID, Trust: h.returned.String(), Label: h.source,
			Hash: string(r.Hash), Size: r.Size, DurationMs: r.DurationMs, Failed: r.Error,
		})
	case protocol.BeforeResponseEmit:
		p := record.Part{What: record.PartSaid}
		if e.Content != nil {
			p.Hash = string(e.Content.Hash)
		}
		add(p)
		ends = true
	case protocol.AgentEnd, protocol.SessionEnd:
		ends = e.Name == protocol.AgentEnd || h.call.Context.RunID == ""
	}
	if ends {
		add(record.Part{What: record.PartEnded})
	}
	if a.Block {
		add(record.Part{What: record.PartBlocked, Reason: a.BlockReason})
	}
	return ends
}

// recordEvent keeps what an event changed and what it tells of its turn. The end of a turn is followed by its graph, where
// a policy wants that.
func (v *Verifier) recordEvent(ctx context.Context, h *event, a *protocol.Answer) error {
	if h.replayed {
		return nil
	}
	ends, raised := v.tell(h, a), h.level > h.before && (h.known || h.level > taint.Owner)
	if !raised && len(h.changed) == 0 && len(h.parts) == 0 {
		return nil
	}
	c, x, key := h.call, &h.call.Context, turnOf(h.call)
	e := record.Entry{
		Kind: record.KindEvent, RequestID: c.RequestID, Client: c.Client, Session: x.SessionKey, SessionID: x.SessionID,
		Agent: c.Agent(), Run: x.RunID, Tool: v.hide.toolName(h.event.Returned.Tool, h.event.Returned.Sent),
		By: string(h.event.Name), Level: h.level.String(), Note: strings.Join(h.changed, " "),
	}
	if raised {
		e.Level, e.RaisedTo, e.Source = h.before.String(), h.level.String(), h.source
	}
	if len(h.parts) > 0 {
		e.Part, e.Turn = &h.parts[0], v.turns.ID(key, time.Now())
		e.Part.More = h.parts[1:]
	}
	if err := v.o.Record.Append(e); err != nil || !ends {
		return err
	}
	turn, keep := v.turns.Over(key, time.Now())
	if !keep || v.o.Graph == nil {
		return nil
	}
	g, err := v.o.Graph(ctx, turn)
	if err != nil {
		return err
	}
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return v.o.Record.Append(record.Entry{
		Kind: record.KindGraph, Client: c.Client, Session: x.SessionKey, Agent: c.Agent(), Run: x.RunID, Turn: turn,
		Level: g.Summary.MaxTaint.String(), Graph: text,
	})
}

// informs notes what a call brings in from beyond the owner's machine: the agent's next message says so.
func (e *evaluation) informs(c *store.Conversation, raise taint.Level) {
	if run := e.call.Context.RunID; run != "" && raise >= taint.Shared && e.plan.Source != "" {
		c.AddFooter(run, "Informed by "+e.plan.Source+" ("+raise.String()+").")
	}
}
