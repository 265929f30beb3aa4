package verifier

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// eventEvaluation is one event on its way: what it tells, and what came of it.
type eventEvaluation struct {
	*evaluation
	event    *loop.Event
	rules    *policy.Policy
	report   session.Report
	heard    session.Heard
	returned taint.Level       // what a tool's answer is worth, where one is told of
	secret   bool              // and it holds a secret, or comes from where secrets are kept
	changed  []string          // what the record should know, a sentence each
	taken    []provenance.Fact // the calls that were taken out of what the model wants

	beginning beginning // of a run, where one is told of
}

// Hear takes in one event of the agent loop. An event can only make things
// stricter: it raises levels, takes tools away, ends grants and blocks turns. Of
// scheduled jobs alone it may say something good, see jobChanged. It allows nothing, and what can't be taken in is refused, which blocks where the
// runtime waits for leave.
func (v *Verifier) Hear(ctx context.Context, e *loop.Event) (a loop.Answer) {
	h := &eventEvaluation{evaluation: new(evaluation), event: e}
	v.begin(h.evaluation, &e.Call)
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "an event ended in a panic and was refused", "panic", crash.Recovered(p))
			a = Refused(e.Name, reasonFault)
		}
	}()
	if e.Name == loop.SaysHello {
		return v.greet(ctx, e)
	}
	v.hideKeys(&e.Call)
	for _, key := range []*string{&e.Child, &e.Returned.Child, &e.NextSessionID, &e.NextSessionKey} {
		*key = v.key(*key)
	}
	h.rules = v.o.Policy() // one policy, even across a reload
	v.hearFresh(ctx, h)
	v.runs.reached(h.call)
	h.read(v)
	if h.report.Source != "" { // it is kept, and shown on cards
		v.redactor().Lines(&h.report.Source)
	}
	if no := v.take(ctx, h); no != nil {
		return Refused(e.Name, no.reason)
	}
	v.runs.counted(h.call, e.Iteration)
	if e.Name == loop.AfterToolCall {
		v.cautionResult(h)
	}
	v.actions.hear(h)
	v.repeats.hear(h)
	v.hearsOutside(h)
	if e.Name == loop.AfterLLMCall && !h.heard.Replayed {
		v.spend(h)
		v.o.Used(e.Tokens, time.Duration(e.LatencyMs)*time.Millisecond)
	}
	a = loop.Answer{Accepted: true}
	h.answer(v, &a)
	if h.beginning.anew && !h.heard.Replayed {
		h.changed = append(h.changed, renewedNote)
	}
	if err := v.recordEvent(h); err != nil {
		v.o.Log.ErrorContext(ctx, "an event could not be recorded and was refused", "request", v.named(&e.Call), "err", err)
		return Refused(e.Name, reasonRecord)
	}
	if !h.heard.Replayed {
		v.began(ctx, &h.beginning)
	}
	v.tellOtherwise(ctx, h)
	if err := v.addEvent(ctx, h, &a); err != nil {
		v.o.Log.ErrorContext(ctx, "the graph of a turn could not be recorded, and its end was refused", "request", v.named(&e.Call), "err", err)
		return Refused(e.Name, reasonRecord)
	}
	v.remember(ctx, h)
	return a
}

// Refused is the answer to an event that was not taken in.
func Refused(n loop.Name, reason string) loop.Answer {
	a := loop.Answer{Reason: clip(reason)}
	if n.MayBlock() {
		a.Block, a.BlockReason = true, reasonFault
	}
	return a
}

// Notice takes in a call that the runtime will not ask about: nobody is asked and
// nothing is denied, but what it brings in is raised and recorded before the
// answer. It goes the way of any call, under a plan that lets it pass.
func (v *Verifier) Notice(ctx context.Context, c *toolcall.Call) loop.Answer {
	d, held := v.decide(ctx, c, func(p *policy.Policy, c *toolcall.Call) policy.Plan {
		plan := p.Notice(c)
		plan.InScope = false // nobody is asked, here or elsewhere
		return plan
	})
	if held != nil {
		d = held.wait(ctx)
	}
	if !d.Allow {
		return Refused(loop.BeforeToolCall, d.Reason)
	}
	return loop.Answer{Accepted: true}
}

// take carries the event to the store: the level, the grants, the links.
func (v *Verifier) take(ctx context.Context, h *eventEvaluation) *denial {
	ctx, cancel := context.WithTimeout(ctx, v.o.StoreWait)
	defer cancel()
	if h.event.Name == loop.SubagentSpawned && h.call.Context.SessionKey == "" {
		return deny("malformed", "context.sessionKey is missing, so we don't know who spawned the session.")
	}
	initial, err := v.arrive(ctx, h.evaluation)
	if err != nil {
		return v.storeFault(ctx, "hear", err)
	}
	if h.report.Start {
		h.report.Birth = h.plan.Birth // a job that was started is known by now
	}
	if h.report.Start && initial >= h.report.Raise {
		h.report.Raise, h.report.Source = initial, h.plan.Standing.Why
	}
	if no := v.hear(ctx, h); no != nil {
		return no
	}
	if err := cmp.Or(v.jobTold(ctx, h), v.jobChanged(ctx, h), v.carryOn(ctx, h), v.spawned(ctx, h)); err != nil {
		return v.storeFault(ctx, "hear", err)
	}
	if h.event.Name == loop.SessionEnd && slices.Contains(freshReasons, h.event.Reason) { // told again, it may have failed before
		end := approval.Ending{
			Conversation: h.conv, SessionKey: h.call.Context.SessionKey, SessionID: h.call.Context.SessionID,
			At: h.heard.Now, Why: "the conversation was ended",
		}
		if end.At.IsZero() {
			end.At = time.Now()
		}
		if err := v.o.Desk.Abandon(ctx, end); err != nil {
			return v.storeFault(ctx, "withdraw", err)
		}
	}
	if a := h.event.Answered; a.Ticket != "" { // told again, it may have failed before
		if err := v.o.Desk.AnsweredElsewhere(ctx, h.call.Client, a.Ticket, elsewhere(a)); err != nil {
			return v.storeFault(ctx, "withdraw", err)
		}
	}
	return nil
}

// elsewhere is why a question is closed.
func elsewhere(a loop.Answered) approval.Elsewhere {
	switch {
	case a.Ran:
		return approval.AllowedThere
	case a.Replaced:
		return approval.Replaced
	}
	return approval.ClosedThere
}

// hear is one trip, and one more for each parent that this process did not know
// of.
func (v *Verifier) hear(ctx context.Context, h *eventEvaluation) *denial {
	own := h.conv
	for range maxLine {
		h.report.Conversation, h.report.Session, h.report.Window = h.conv, h.session, h.window()
		heard, err := v.o.Store.Hear(ctx, h.report)
		switch {
		case err != nil:
			return v.storeFault(ctx, "hear", err)
		case heard.Conflict:
			return deny("conflict", reasonConflict)
		case heard.Moved:
			v.roots.note(own, heard.Root)
			h.move(heard.Root)
			continue
		}
		h.heard = heard
		if heard.Version > 0 && (h.session != "" || h.report.Brings()) { // it is there, and this says something of it
			h.heardAt(v)
		}
		return nil
	}
	return v.storeFault(ctx, "hear", errMoved)
}

// heardAt keeps what this process has seen of the conversation, as saw does.
func (h *eventEvaluation) heardAt(v *Verifier) {
	m := session.Mark{Level: h.heard.Level, Generation: h.heard.Generation}
	if h.session == "" {
		v.floor.RaiseAll(h.convID, m)
		if m.Level = h.report.Raise; !h.heard.Known {
			m.Level = taint.Worse(m.Level, h.report.Birth)
		}
		if h.heard.Lost {
			m.Level = taint.Untrusted
		}
	}
	v.floor.Raise(h.convID, h.session, m)
}

// carryOn takes the level to where the conversation goes on: a child, or a
// session with another key.
func (v *Verifier) carryOn(ctx context.Context, h *eventEvaluation) error {
	switch e := h.event; {
	case e.Name == loop.SubagentSpawned:
		child := session.Conversation{Client: h.call.Client, Key: e.Child}
		root, before, err := v.o.Store.Link(ctx, child, h.conv)
		if err != nil {
			return err
		}
		v.joined(child, root, before)
		h.changed = append(h.changed, "The session "+e.Child+" shares its level from now on.")
	case e.Name == loop.SessionEnd && goesOn(e) && e.NextSessionKey != "" && e.NextSessionKey != h.call.Context.SessionKey:
		next := session.Conversation{Client: h.call.Client, Key: e.NextSessionKey}
		v.exposure.hand(h.conv, v.roots.at(next), !h.heard.Lost)
		secret, err := v.o.Store.Exposed(ctx, h.conv)
		if err == nil {
			err = v.o.Store.Expose(ctx, next, secret)
		}
		if err != nil {
			return err
		}
		return v.o.Store.Raise(ctx, next, h.level(v), "the session that it goes on from")
	}
	return nil
}

// freshReasons are why a session ends after which the next one begins with
// nothing. After any other, or none, what it held may go on in the next: after
// "idle" and "daily" OpenClaw keeps the last messages.
var freshReasons = []string{"new", "reset", "deleted"}

func goesOn(e *loop.Event) bool { return !slices.Contains(freshReasons, e.Reason) }

// level is how far the conversation is trusted now. Of what nobody has said
// anything about, as little as of a sender nobody knows.
func (h *eventEvaluation) level(v *Verifier) taint.Level {
	level := h.heard.Level
	if !h.heard.Known && !h.report.Start {
		level = taint.Worse(level, h.rules.UnknownSender())
	}
	if floor := v.floor.At(h.convID, h.session); floor.Generation >= h.heard.Generation {
		level = taint.Worse(level, floor.Level)
	}
	return level
}

// recordEvent keeps what an event changed. What changed nothing is not recorded:
// events come by the dozen.
func (v *Verifier) recordEvent(h *eventEvaluation) error {
	c, raised := h.call, h.heard.Level > h.heard.Before && (h.heard.Known || h.heard.Level > taint.Owner)
	if h.heard.Replayed || !raised && len(h.changed) == 0 {
		return nil
	}
	e := audit.Entry{
		Kind: audit.KindEvent, RequestID: c.RequestID, Client: c.Client, Session: c.Context.SessionKey, SessionID: c.Context.SessionID,
		Agent: c.Agent(), Run: c.Context.RunID, Tool: v.toolName(h.event.Returned.Tool, h.event.Returned.Sent), By: string(h.event.Name),
		Level: h.heard.Before.String(), Step: h.heard.Step, Note: strings.Join(h.changed, " "),
	}
	if raised {
		e.RaisedTo, e.Source = h.heard.Level.String(), h.report.Source
	}
	return v.o.Record.Append(e)
}
