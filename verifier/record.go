package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/turns"
)

// release records an allow, then gives it. It is the only place that writes
// one: no record, no allow.
func (v *Verifier) release(ctx context.Context, t *evaluation) Decision {
	if no := v.admitter.kin.spread(ctx, t); no != nil {
		return v.recorder.refuse(ctx, t, no)
	}
	v.auditing.caution(t)
	if t.plan.ByArguments() || t.plan.Secret != "" || t.held {
		v.results.note(t, false)
	}
	if t.person {
		v.judging.runs.answered(t, true)
	}
	v.recorder.logContext(ctx, t)
	var e record.Entry
	v.recorder.fill(&e, t)
	e.Decision = record.Allow
	if err := v.o.Record.Append(e); err != nil {
		v.o.Log.ErrorContext(ctx, "an allow could not be recorded and was denied", "request", v.hide.request(t.call), "err", err)
		v.recorder.observe(t, false, faultRecord)
		return Decision{Reason: reasonRecord}
	}
	v.recorder.observe(t, true, t.by)
	v.recorder.addCall(ctx, t, nil)
	changed := ""
	if t.wasEdited() {
		v.edits.note(t)
		changed = string(t.call.Params)
	}
	return Decision{Allow: true, Ref: t.ruling.Ref, Params: changed}
}

// recorder writes decisions into the record, and reports them to those who count. It gives every deny, and no allow.
type recorder struct {
	o     *Options
	hide  *hiding
	turns *turns.Keeper
}

// refuse records a deny and gives it. A deny that can't be recorded is a deny.
func (rec *recorder) refuse(ctx context.Context, t *evaluation, n *denial) Decision {
	rec.logContext(ctx, t)
	var e record.Entry
	rec.fill(&e, t)
	e.Decision, e.By, e.Error = record.Deny, "", n.kind
	e.Reason = clip(n.reason)
	if strings.Contains(n.reason, t.ref()) {
		e.Ref = t.ref()
	}
	if err := rec.o.Record.Append(e); err != nil {
		rec.o.Log.ErrorContext(ctx, "a deny could not be recorded", "request", rec.hide.request(t.call), "err", err)
	}
	rec.observe(t, false, n.kind)
	rec.addCall(ctx, t, n)
	return n.decision(t)
}

// crashed denies after a panic. What caused it may strike again while the deny
// is recorded, so the params are left out, and a second panic leaves a deny.
func (rec *recorder) crashed(ctx context.Context, t *evaluation) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			rec.o.Log.ErrorContext(ctx, "a deny could not be recorded", "panic", crash.Recovered(p))
			d = Decision{Reason: reasonFault, Ref: t.ruling.Ref}
		}
	}()
	bare := *t.call
	bare.Params, t.call = nil, &bare
	return rec.refuse(ctx, t, deny(crashKind, reasonFault))
}

// observe reports the decision to metrics. The call is decided now.
func (rec *recorder) observe(t *evaluation, allow bool, by string) {
	t.decided = time.Now()
	o := Observation{
		Allow: allow, By: by, Mode: t.verdict.Mode.String(), Level: t.view.Level.String(), Class: t.plan.Class(),
		Took: t.decided.Sub(t.started), Waited: t.ruling.Waited,
	}
	if t.view.Version == 0 { // nothing was judged
		o.Mode, o.Level = "", ""
	}
	if by == faultStore || by == faultRecord {
		o.Fault = by
	}
	rec.o.Observe(o)
}

// fill makes an empty entry the record of a decision. It is too large to be handed
// around.
func (rec *recorder) fill(e *record.Entry, t *evaluation) {
	c := t.call
	e.Kind, e.RequestID, e.Client, e.Agent, e.Tool = record.KindDecision, c.RequestID, c.Client, c.Agent(), c.Tool
	e.Session, e.SessionID, e.Run = c.Context.SessionKey, c.Context.SessionID, c.Context.RunID
	e.Ref, e.Card, e.WaitedMs = t.ruling.Ref, t.ruling.Card, t.ruling.Waited.Milliseconds()
	e.By, e.Replay, e.Asked = t.by, t.again(), t.asks.call
	if c.Sent != c.Tool {
		e.Sent = c.Sent
	}
	if len(c.Params) > 0 {
		rec.params(e, t)
	}
	if t.view.Version > 0 {
		recordLevel(e, t)
	}
	if len(t.view.Origins) > 0 {
		for _, o := range originsOf(t) {
			e.Origins = append(e.Origins, o.Argument+": "+o.String())
		}
	}
	recordConsent(e, t)
}

// params keeps the arguments as they may be shown. Right after the start
// it waits a moment until it is known what that is; a client that leaves
// meanwhile doesn't blank the record.
func (rec *recorder) params(e *record.Entry, t *evaluation) {
	if t.settings.Names {
		e.Params = rec.hide.redactor().Names(t.call.Params)
		return
	}
	shown := rec.hide.shown(t)
	e.Params, e.Hidden = shown.Params, shown.Hidden()
}

// recordLevel keeps how far the conversation was trusted, and each rise with
// the step at which it came.
func recordLevel(e *record.Entry, t *evaluation) {
	e.Digest, e.Mode, e.Why = t.digest, t.verdict.Mode.String(), t.verdict.Sentences()
	e.Started, e.Level, e.Step = t.plan.Initiator.Why, t.view.Level.String(), t.view.Step
	if t.opinion != nil {
		e.Auditor, e.Why = t.opinion.Verdict.String(), append(e.Why, "The auditor: "+opinionClause(t.opinion)+".")
	}
	if t.view.After > t.view.Level {
		e.RaisedTo, e.Source = t.view.After.String(), t.plan.Source
	}
}

// recordConsent keeps who let it pass.
func recordConsent(e *record.Entry, t *evaluation) {
	if g := t.grant; g != nil {
		word := "grant"
		if g.IsStanding() {
			word = "standing consent"
		}
		e.Card, e.People = g.ID, []record.Person{{Name: g.By, Says: word + " until " + g.Until.UTC().Format(time.RFC3339) + approval.LikeOnly(g)}}
		return
	}
	for _, vote := range t.ruling.Votes {
		p := record.Person{Name: vote.Person, Via: vote.Via, At: vote.At, Says: "deny"}
		if vote.Allow {
			p.Says = "allow " + vote.Scope.String()
			if vote.Edited != "" {
				p.Says += " with other arguments"
			}
		}
		e.People = append(e.People, p)
	}
}

// logContext writes what the owner's policies want to have in the log: what the
// user said and what was called, both without their secrets, and its hash. Tool
// output never comes here, so it can't be logged either.
func (rec *recorder) logContext(ctx context.Context, t *evaluation) {
	if !t.verdict.LogContext {
		return
	}
	redactor := rec.hide.redactor()
	said := make([]string, 0, len(t.call.Context.UserMessages))
	for _, m := range t.call.Context.UserMessages {
		text, _ := redactor.Text(m.Text)
		said = append(said, text)
	}
	rec.o.Log.InfoContext(ctx, "the full context of a call, as a policy wants it", "request", rec.hide.request(t.call), "session", t.conv.Ref(),
		"tool", t.call.Tool, "params", string(rec.hide.shown(t).Params), "digest", t.callDigest(), "level", t.view.Level.String(), "user", said)
}
