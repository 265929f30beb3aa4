package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/taint"
)

// about begins an entry about a call, or about what happened in its run.
func about(c *protocol.Call, kind record.Kind) record.Entry {
	return record.Entry{
		Kind: kind, RequestID: c.RequestID, Client: c.Client, Agent: c.Agent(), Session: c.Context.SessionKey,
		SessionID: c.Context.SessionID, Run: c.Context.RunID,
	}
}

// entry is the record of a decision: an allow where no is nil.
func (e *evaluation) entry(ctx context.Context, no *denial) record.Entry {
	c, out := e.call, about(e.call, record.KindDecision)
	out.Tool, out.Ref, out.Card, out.People = c.Tool, e.ruling.Ref, e.ruling.Card, peopleOf(e.ruling.Votes)
	out.Decision, out.By, out.Replay, out.Asked = record.Allow, e.by, e.replay, e.asked
	out.WaitedMs = e.ruling.Waited.Milliseconds()
	if c.Sent != c.Tool {
		out.Sent = c.Sent
	}
	switch {
	case len(c.Params) == 0:
	case e.terms.Names:
		out.Params = e.terms.Redactor.Names(c.Params)
	default:
		out.Params, out.Hidden = e.shown().Params, e.shown().Hidden()
	}
	if e.known {
		out.Mode, out.Why, out.Started = e.verdict.Mode.String(), e.verdict.Sentences(), e.start.Why
		if out.Level = e.view.Level.String(); e.after > e.view.Level {
			out.RaisedTo, out.Source = e.after.String(), e.plan.Source
		}
		if e.ask != nil {
			out.Digest = c.Digest()
		}
		if e.verdict.LogContext {
			e.logContext(ctx)
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
	if e.grant != nil {
		out.Card, out.People = e.grant.ID, e.granted()
	}
	if no != nil {
		out.Decision, out.By, out.Error, out.Reason = record.Deny, "", no.kind, clip(no.reason, maxReason)
		if strings.Contains(no.reason, e.ref()) {
			out.Ref = e.ref()
		}
	}
	e.partOf(&out)
	return out
}

// granted are those who gave the grant by which the call passes.
func (e *evaluation) granted() (people []record.Person) {
	says := "grant until "
	if e.always {
		says = "always, until "
	}
	if says += e.grant.Until.UTC().Format(time.RFC3339); e.grant.Target != "" {
		says += " for " + e.grant.Shown
	}
	for _, name := range e.grant.By {
		people = append(people, record.Person{Name: name, Says: says})
	}
	return people
}

// peopleOf are those who voted.
func peopleOf(votes []approval.Vote) (out []record.Person) {
	for _, vote := range votes {
		p := record.Person{Name: vote.Person, Via: vote.Via, At: vote.At, Says: "deny"}
		if vote.Allow {
			p.Says = "allow " + vote.Scope.String()
		}
		if vote.Edited != "" {
			p.Says += " with other arguments"
		}
		out = append(out, p)
	}
	return out
}

// logContext writes what the owner's policies want to have in the log: what the user said and what was called, both
// without their secrets, and its hash. Tool output never comes here, so it can't be logged either.
func (e *evaluation) logContext(ctx context.Context) {
	said := make([]string, len(e.call.Context.UserMessages))
	for i, m := range e.call.Context.UserMessages {
		said[i], _ = e.terms.Redactor.Text(m.Text)
	}
	e.v.o.Log.InfoContext(ctx, "the full context of a call, as a policy wants it", "request", e.terms.request(e.call),
		"session", e.start.conversation.Ref(), "tool", e.call.Tool, "params", string(e.shown().Params),
		"digest", e.call.Digest(), "level", e.view.Level.String(), "user", said)
}

// crashed denies after a panic. What caused it may strike again while the deny is recorded, so the params are left out,
// and a second panic leaves a deny.
func (e *evaluation) crashed(ctx context.Context) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			e.v.o.Log.ErrorContext(ctx, "a deny could not be recorded", "panic", text.Panic(p))
			d = Decision{Reason: reasonFault, Ref: e.ruling.Ref}
		}
	}()
	bare := *e.call
	bare.Params, e.call = nil, &bare
	return e.refuse(ctx, deny(crashKind, reasonFault))
}

// turnOf names the turn that a call belongs to: a run, or where runs are not named a session id.
func turnOf(c *protocol.Call) provenance.Key {
	x := &c.Context
	return provenance.Key{Client: c.Client, Session: x.SessionKey, Run: x.RunID, SessionID: x.SessionID}
}

// partOf adds what a decision says of its turn, from which the turn's graph is drawn.
func (e *evaluation) partOf(out *record.Entry) {
	if !e.known || e.replay || e.plan.Class() == "wrapper" || out.Error == crashKind {
		return
	}
	x := &e.call.Context
	p := record.Part{Call: x.ToolCallID, Iteration: x.Iteration, Birth: e.start.Level.String(), Label: e.plan.Source}
	switch {
	case out.Decision != record.Allow:
		p.Tainted = e.plan.Modes[taint.System] < e.plan.Modes[min(e.view.Level, taint.Untrusted)]
	case e.after > e.view.Level:
		p.Trust = taint.Worse(e.plan.Raise, e.after).String()
	default:
		p.Trust = e.plan.Raise.String()
	}
	out.Turn, out.Parts = e.v.turns.ID(turnOf(e.call), time.Now(), e.verdict.PersistGraph), []record.Part{p}
}
