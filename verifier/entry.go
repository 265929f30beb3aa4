package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/taint"
)

// entry is the record of a decision, but for what was decided.
func (v *Verifier) entry(ctx context.Context, e *evaluation) record.Entry {
	c, x := e.call, &e.call.Context
	out := record.Entry{
		Kind: record.KindDecision, RequestID: c.RequestID, Client: c.Client, Agent: c.Agent(), Tool: c.Tool,
		Session: x.SessionKey, SessionID: x.SessionID, Run: x.RunID, Ref: e.ruling.Ref, Card: e.ruling.Card,
		WaitedMs: e.ruling.Waited.Milliseconds(), By: e.by, Replay: e.replay, Asked: e.asked,
	}
	if c.Sent != c.Tool {
		out.Sent = c.Sent
	}
	switch {
	case len(c.Params) == 0:
	case e.settings.Names:
		out.Params = v.hide.redactor().Names(c.Params)
	default:
		shown := v.hide.shown(e)
		out.Params, out.Hidden = shown.Params, shown.Hidden()
	}
	if e.judged {
		v.logContext(ctx, e)
		out.Digest, out.Mode, out.Why = e.texts.digest, e.verdict.Mode.String(), e.verdict.Sentences()
		out.Started, out.Level = e.start.Why, e.view.Level.String()
		if e.after > e.view.Level {
			out.RaisedTo, out.Source = e.after.String(), e.plan.Source
		}
	}
	if e.opinion == nil && e.by == byPerson && e.verdict.Mode == taint.Allow { // it objected when people were asked
		out.Auditor = auditor.Block.String()
	} else if e.opinion != nil {
		out.Auditor = e.opinion.Verdict.String()
		out.Why = append(out.Why, "The auditor: "+opinionClause(e.opinion)+".")
	}
	for _, o := range originsOf(e.view.Origins) {
		out.Origins = append(out.Origins, o.Argument+": "+o.String())
	}
	e.recordConsent(&out)
	return out
}

// recordConsent keeps who let it pass, or did not.
func (e *evaluation) recordConsent(out *record.Entry) {
	if g := e.grant; g != nil {
		says := "grant until " + g.Until.UTC().Format(time.RFC3339)
		if e.always {
			says = "always, until " + g.Until.UTC().Format(time.RFC3339)
		}
		if g.Target != "" {
			says += " for " + g.Shown
		}
		out.Card, out.People = g.ID, nil
		for _, name := range g.By {
			out.People = append(out.People, record.Person{Name: name, Says: says})
		}
		return
	}
	for _, vote := range e.ruling.Votes {
		p := record.Person{Name: vote.Person, Via: vote.Via, At: vote.At, Says: "deny"}
		if vote.Allow {
			p.Says = "allow " + vote.Scope.String()
			if vote.Edited != "" {
				p.Says += " with other arguments"
			}
		}
		out.People = append(out.People, p)
	}
}

// logContext writes what the owner's policies want to have in the log: what the user said and what was called, both
// without their secrets, and its hash. Tool output never comes here, so it can't be logged either.
func (v *Verifier) logContext(ctx context.Context, e *evaluation) {
	if !e.verdict.LogContext {
		return
	}
	redactor := v.hide.redactor()
	said := make([]string, 0, len(e.call.Context.UserMessages))
	for _, m := range e.call.Context.UserMessages {
		text, _ := redactor.Text(m.Text)
		said = append(said, text)
	}
	v.o.Log.InfoContext(ctx, "the full context of a call, as a policy wants it", "request", v.hide.request(e.call),
		"session", e.start.conversation.Ref(), "tool", e.call.Tool, "params", string(v.hide.shown(e).Params),
		"digest", e.digest(), "level", e.view.Level.String(), "user", said)
}

// crashed denies after a panic. What caused it may strike again while the deny is recorded, so the params are left out,
// and a second panic leaves a deny.
func (v *Verifier) crashed(ctx context.Context, e *evaluation) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "a deny could not be recorded", "panic", text.Panic(p))
			d = Decision{Reason: reasonFault, Ref: e.ruling.Ref}
		}
	}()
	bare := *e.call
	bare.Params, e.call = nil, &bare
	return v.refuse(ctx, e, deny(crashKind, reasonFault))
}

// observe reports the decision to metrics.
func (v *Verifier) observe(e *evaluation, allow bool, by string) {
	o := Observation{
		Allow: allow, By: by, Class: e.plan.Class(), Took: time.Since(e.began), Waited: e.ruling.Waited,
	}
	if e.judged {
		o.Mode, o.Level = e.verdict.Mode.String(), e.view.Level.String()
	}
	if by == faultStore || by == faultRecord {
		o.Fault = by
	}
	v.o.Observe(o)
}

// What became of a call whose result the runtime may report: the event of it names the tool and the call, not the
// arguments by which the call was judged.
const (
	released = "released"
	waiting  = "waiting" // people were asked, and have not answered
	denied   = "denied"  // a person said no
)

// note keeps the outcome of a call beside its request, where the arguments make what it brings in better or worse than
// what its tool otherwise returns, or where it was not simply allowed. What is not kept counts as what the tool
// returns.
func (e *evaluation) note(t *store.Tx, state string) {
	c := e.call
	usual := state == released && !e.held && e.plan.Secret == "" && !e.plan.ByArguments()
	if !usual && c.Context.ToolCallID != "" && c.Context.SessionKey != "" {
		t.Decide(store.Request{
			ID: outcomeID(c, c.Context.ToolCallID, c.Tool), Waits: state == waiting,
			By: state + " " + e.plan.Raise.String() + " " + e.plan.Secret, Keep: e.settings.Keep,
		})
	}
}

// outcomeID names the outcome of a call; no request can have such an id, for it holds a space.
func outcomeID(c *protocol.Call, id, tool string) string {
	return "outcome of " + id + " " + tool + " in " + c.Context.SessionKey
}

// outcomeOf is what became of the call whose result an event reports, what it brings in and the secrets that it reads;
// without a state, nothing is known of it.
func outcomeOf(t *store.Tx, h *event) (state string, level taint.Level, reads string) {
	r := &h.event.Returned
	if r.ToolCallID == "" || h.call.Context.SessionKey == "" {
		return "", 0, ""
	}
	kept := t.Request(outcomeID(h.call, r.ToolCallID, r.Tool))
	if kept == nil {
		return "", 0, ""
	}
	state, rest, _ := strings.Cut(kept.By, " ")
	word, reads, _ := strings.Cut(rest, " ")
	if level.UnmarshalText([]byte(word)) != nil {
		level = taint.Untrusted
	}
	return state, level, reads
}

// What a call or an event tells of its turn goes into the record, from which the turn's graph is drawn. It decides
// nothing.

// turnOf names the turn that a call belongs to.
func turnOf(c *protocol.Call) provenance.Key {
	x := &c.Context
	return provenance.Key{Client: c.Client, Session: x.SessionKey, Run: x.RunID, SessionID: x.SessionID}
}

// partOf is what a decision says of its turn.
func (v *Verifier) partOf(e *evaluation, out *record.Entry) {
	if !e.judged || e.replay || e.plan.Class() == "wrapper" || out.Error == crashKind {
		return
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
	out.Turn, out.Part = v.turns.ID(turnOf(e.call), time.Now(), e.verdict.PersistGraph), p
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

// recordEvent keeps what an event changed and what it tells of its turn. The end of a turn is followed by its graph,
// where a policy wants that.
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
		e.Part, e.Turn = &h.parts[0], v.turns.ID(key, time.Now(), false)
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
