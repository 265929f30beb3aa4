package verifier

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
)

// eventEvaluation is one event on its way: what it tells, and what came of it.
type eventEvaluation struct {
	*evaluation
	event    *loop.Event
	rules    *policy.Policy
	report   session.Report
	heard    session.Heard
	returned taint.Level       // what a tool's answer is worth, where one is reported
	secret   bool              // and it holds a secret, or comes from where secrets are kept
	changed  []string          // what the record should know, a sentence each
	taken    []provenance.Fact // the calls that were taken out of what the model wants

	beginning beginning // of a run, where one is reported
}

// Hear takes in one event of the agent loop. An event can only make things
// stricter: it raises levels, takes tools away, ends grants and blocks turns. Of
// scheduled jobs alone it may say something good, see [jobs.changed]. It allows nothing, and what can't be taken in is refused, which blocks where the
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
		return v.runtimes.greet(ctx, e)
	}
	return v.listener.hear(ctx, h)
}

// listener takes in the events of agent loops: what each does to its conversation, what the runtime may go on with, and what is recorded of
// it. It refuses what it can't keep.
type listener struct {
	o         *Options
	hide      *hiding
	judging   *judging
	admitter  *admitter
	fresh     *fresh
	auditing  *auditing
	results   *resultLevels
	texts     *texts
	turns     *turns.Keeper
	otherwise otherwise
}

func (l *listener) hear(ctx context.Context, h *eventEvaluation) loop.Answer {
	e := h.event
	l.hide.keys(&e.Call)
	for _, key := range []*string{&e.Child, &e.Returned.Child, &e.NextSessionID, &e.NextSessionKey} {
		*key = l.hide.key(*key)
	}
	h.rules = l.o.Policy() // one policy, even across a reload
	l.fresh.hear(ctx, h)
	l.judging.runs.reached(h.call)
	l.read(h)
	if h.report.Source != "" { // it is kept, and shown on cards
		l.hide.redactor().Lines(&h.report.Source)
	}
	if no := l.take(ctx, h); no != nil {
		return Refused(e.Name, no.reason)
	}
	l.judging.runs.counted(h.call, e.Iteration)
	if e.Name == loop.AfterToolCall {
		l.auditing.cautionResult(h)
	}
	if e.Name == loop.AfterLLMCall && !h.heard.Replayed {
		l.o.Used(e.Tokens, time.Duration(e.LatencyMs)*time.Millisecond)
	}
	a := loop.Answer{Accepted: true}
	l.answer(h, &a)
	if h.beginning.anew && !h.heard.Replayed {
		h.changed = append(h.changed, renewedNote)
	}
	if err := l.record(h); err != nil {
		l.o.Log.ErrorContext(ctx, "an event could not be recorded and was refused", "request", l.hide.request(&e.Call), "err", err)
		return Refused(e.Name, reasonRecord)
	}
	if !h.heard.Replayed {
		l.fresh.began(ctx, &h.beginning)
	}
	l.tellOtherwise(ctx, h)
	if err := l.addEvent(ctx, h, &a); err != nil {
		l.o.Log.ErrorContext(ctx, "the graph of a turn could not be recorded, and its end was refused", "request", l.hide.request(&e.Call), "err", err)
		return Refused(e.Name, reasonRecord)
	}
	l.texts.remember(ctx, h)
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

// take carries the event to the store: the level, the grants, the links.
func (l *listener) take(ctx context.Context, h *eventEvaluation) *denial {
	ctx, cancel := context.WithTimeout(ctx, l.o.StoreWait)
	defer cancel()
	if h.event.Name == loop.SubagentSpawned && h.call.Context.SessionKey == "" {
		return deny("malformed", "context.sessionKey is missing, so we don't know who spawned the session.")
	}
	initial, err := l.admitter.arrive(ctx, h.evaluation)
	if err != nil {
		return l.o.storeFault(ctx, "hear", err)
	}
	if h.report.Start {
		h.report.Birth = h.plan.Birth // a job that was started is known by now
	}
	if h.report.Start && initial >= h.report.Raise {
		h.report.Raise, h.report.Source = initial, h.plan.Initiator.Why
	}
	if no := l.report(ctx, h); no != nil {
		return no
	}
	if err := cmp.Or(l.admitter.jobs.made(ctx, h), l.admitter.jobs.changed(ctx, h), l.carryOn(ctx, h), l.admitter.kin.spawned(ctx, h)); err != nil {
		return l.o.storeFault(ctx, "hear", err)
	}
	if h.event.Name == loop.SessionEnd && slices.Contains(freshReasons, h.event.Reason) { // told again, it may have failed before
		end := approval.Ending{
			Conversation: h.conv, SessionKey: h.call.Context.SessionKey, SessionID: h.call.Context.SessionID,
			At: h.heard.Now, Why: "the conversation was ended",
		}
		if end.At.IsZero() {
			end.At = time.Now()
		}
		if err := l.o.Desk.Abandon(ctx, end); err != nil {
			return l.o.storeFault(ctx, "withdraw", err)
		}
	}
	if a := h.event.Answered; a.Ticket != "" { // told again, it may have failed before
		if err := l.o.Desk.AnsweredElsewhere(ctx, h.call.Client, a.Ticket, elsewhere(a)); err != nil {
			return l.o.storeFault(ctx, "withdraw", err)
		}
	}
	return nil
}

// elsewhere is why a question is closed.
func elsewhere(a loop.Answered) approval.Elsewhere {
	if a.Ran {
		return approval.AllowedThere
	}
	return approval.ClosedThere
}

// report is one trip, and one more for each parent that this process did not know
// of.
func (l *listener) report(ctx context.Context, h *eventEvaluation) *denial {
	own := h.conv
	for range maxLine {
		h.report.Conversation, h.report.Session, h.report.Window = h.conv, h.session, h.window()
		heard, err := l.o.Store.Hear(ctx, h.report)
		switch {
		case err != nil:
			return l.o.storeFault(ctx, "hear", err)
		case heard.Conflict:
			return deny("conflict", reasonConflict)
		case heard.Moved:
			l.admitter.kin.roots.note(own, heard.Root)
			h.move(heard.Root)
			continue
		}
		h.heard = heard
		if heard.Version > 0 && (h.session != "" || h.report.Brings()) { // it is there, and this says something of it
			l.saw(h)
		}
		return nil
	}
	return l.o.storeFault(ctx, "hear", errMoved)
}

// saw keeps what this process has seen of the conversation, as [admitter.saw] does.
func (l *listener) saw(h *eventEvaluation) {
	m := session.Mark{Level: h.heard.Level, Generation: h.heard.Generation}
	if h.session == "" {
		l.admitter.floor.RaiseAll(h.convID, m)
		if m.Level = h.report.Raise; !h.heard.Known {
			m.Level = taint.Worse(m.Level, h.report.Birth)
		}
		if h.heard.Lost {
			m.Level = taint.Untrusted
		}
	}
	l.admitter.floor.Raise(h.convID, h.session, m)
}

// carryOn takes the level to where the conversation goes on: a child, or a
// session with another key.
func (l *listener) carryOn(ctx context.Context, h *eventEvaluation) error {
	switch e := h.event; {
	case e.Name == loop.SubagentSpawned:
		child := session.Conversation{Client: h.call.Client, Key: e.Child}
		root, before, err := l.o.Store.Link(ctx, child, h.conv)
		if err != nil {
			return err
		}
		l.admitter.kin.joined(child, root, before)
		h.changed = append(h.changed, "The session "+e.Child+" shares its level from now on.")
	case e.Name == loop.SessionEnd && goesOn(e) && e.NextSessionKey != "" && e.NextSessionKey != h.call.Context.SessionKey:
		next := session.Conversation{Client: h.call.Client, Key: e.NextSessionKey}
		l.admitter.exposure.hand(h.conv, l.admitter.kin.roots.at(next), !h.heard.Lost)
		secret, err := l.o.Store.Exposed(ctx, h.conv)
		if err == nil {
			err = l.o.Store.Expose(ctx, next, secret)
		}
		if err != nil {
			return err
		}
		return l.o.Store.Raise(ctx, next, l.level(h), "the session that it goes on from")
	}
	return nil
}

// freshReasons are why a session ends after which the next one begins with
// nothing. After any other, or none, what it held may go on in the next: after
// "idle" and "daily" OpenClaw keeps the last messages.
var freshReasons = []string{"new", "reset", "deleted"}

func goesOn(e *loop.Event) bool { return !slices.Contains(freshReasons, e.Reason) }

// level is how far the conversation is trusted now. One of which nothing is known
// is trusted as little as an unknown sender.
func (l *listener) level(h *eventEvaluation) taint.Level {
	level := h.heard.Level
	if !h.heard.Known && !h.report.Start {
		level = taint.Worse(level, h.rules.UnknownSender())
	}
	if floor := l.admitter.floor.At(h.convID, h.session); floor.Generation >= h.heard.Generation {
		level = taint.Worse(level, floor.Level)
	}
	return level
}

// record keeps what an event changed. What changed nothing is not recorded:
// events come by the dozen.
func (l *listener) record(h *eventEvaluation) error {
	c, raised := h.call, h.heard.Level > h.heard.Before && (h.heard.Known || h.heard.Level > taint.Owner)
	if h.heard.Replayed || !raised && len(h.changed) == 0 {
		return nil
	}
	e := record.Entry{
		Kind: record.KindEvent, RequestID: c.RequestID, Client: c.Client, Session: c.Context.SessionKey, SessionID: c.Context.SessionID,
		Agent: c.Agent(), Run: c.Context.RunID, Tool: l.hide.toolName(h.event.Returned.Tool, h.event.Returned.Sent), By: string(h.event.Name),
		Level: h.heard.Before.String(), Step: h.heard.Step, Note: strings.Join(h.changed, " "),
	}
	if raised {
		e.RaisedTo, e.Source = h.heard.Level.String(), h.report.Source
	}
	return l.o.Record.Append(e)
}
