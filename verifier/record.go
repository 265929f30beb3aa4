package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/turns"
)

// NotPermitted begins what the agent reads of a call that never passes.
const NotPermitted = "Not permitted here"

// What the agent reads. No code, no syntax, no policy detail: the agent is the
// adversary's mouth.
const (
	reasonFault    = "The verifier could not decide. Nothing was run."
	reasonStore    = "The verifier's store can't be reached. Nothing was run; ask again later."
	reasonRecord   = "The verifier can't write its record. Nothing was run; ask again later."
	reasonConflict = "This request id was already used for another call."
	reasonRepeated = "This request was denied before, and stays so. A new call will be judged again."
	reasonMoved    = "The conversation kept changing while this was decided. Ask again."
	reasonNobody   = "This needs the owner's approval, and the owner can't be asked now. Ask again later."
	reasonStopping = "The verifier is stopping. Nothing was run; ask again later."
	reasonPaused   = "The owner has paused this agent. Only harmless tools run until the pause is lifted."
	reasonTooMany  = "Paused: too many questions this hour. What needs the owner's approval is denied until there is room again; other calls go on."
	reasonMuted    = "This needs the owner's approval, and the owner wants no questions from here until %s. Nothing was asked; do something else, or ask again then."
	reasonAway     = "This needs the owner's approval, and the people who could give it are not there until %s. Nothing was asked; ask again then."
	againFormat    = "2006-01-02 15:04 UTC"
	reasonFull     = "Too many questions are waiting for the owner. Ask again when some are answered."
	reasonTaken    = "The owner's yes was for one call, and an identical call that was waiting first has it. Ask again if it is needed twice."
	maxReason      = 500

	faultStore  = "store"
	faultRecord = "record"
	callerGone  = "gone"
	crashKind   = "panic"
)

// denial is why a call is denied: a category for the record, a sentence for the
// agent.
type denial struct{ kind, reason string }

func deny(kind, reason string) *denial { return &denial{kind, reason} }

// release records an allow, then gives it. It is the only place that writes
// one: no record, no allow.
func (v *Verifier) release(ctx context.Context, t *evaluation) Decision {
	if no := v.admitter.kin.spread(ctx, t); no != nil {
		return v.recorder.refuse(ctx, t, no)
	}
	v.auditing.caution(t)
	v.quiet.allowing(t)
	if t.plan.ByArguments() || t.plan.Secret != "" || t.held {
		v.results.note(t, false)
	}
	if t.person {
		v.judging.runs.answered(t, true)
	}
	v.recorder.logContext(ctx, t)
	var e audit.Entry
	v.recorder.fill(&e, t)
	e.Decision = audit.Allow
	began := v.o.clock()
	err := v.o.Record.Append(e)
	if t.took("record", began, err != nil); err != nil {
		v.o.Log.ErrorContext(ctx, "an allow could not be recorded and was denied", "request", v.hide.request(t.call), "err", err)
		v.recorder.observe(t, false, faultRecord)
		return Decision{Reason: reasonRecord}
	}
	v.quiet.allowed(t)
	v.workspace.ranModules(ctx, t)
	v.recorder.observe(t, true, t.by)
	v.recorder.addCall(ctx, t, nil)
	d := Decision{Allow: true, Ref: t.ruling.Ref}
	if t.wasEdited() {
		v.edits.note(t)
		d.Params = string(t.call.Params)
	}
	return d
}

// recorder writes decisions into the record, and reports them to those who count and trace. It gives every deny, and no allow.
type recorder struct {
	o     *Options
	hide  *hiding
	turns *turns.Keeper
}

// refuse records a deny and gives it. A deny that can't be recorded is a deny.
func (rec *recorder) refuse(ctx context.Context, t *evaluation, n *denial) Decision {
	e, began := rec.refusal(ctx, t, n), rec.o.clock()
	err := rec.o.Record.Append(e)
	t.took("record", began, err != nil)
	rec.refused(ctx, t, n, err)
	rec.addCall(ctx, t, n)
	return n.decision(t)
}

// refusal is the record of a deny.
func (rec *recorder) refusal(ctx context.Context, t *evaluation, n *denial) (e audit.Entry) {
	rec.logContext(ctx, t)
	rec.fill(&e, t)
	e.Decision, e.By, e.Error = audit.Deny, "", n.kind
	e.Reason = clip(n.reason)
	if strings.Contains(n.reason, t.ref()) {
		e.Ref = t.ref()
	}
	return e
}

// refused tells whoever counts of a deny, and the log if it could not be recorded.
func (rec *recorder) refused(ctx context.Context, t *evaluation, n *denial, unrecorded error) {
	if unrecorded != nil {
		rec.o.Log.ErrorContext(ctx, "a deny could not be recorded", "request", rec.hide.request(t.call), "err", unrecorded)
	}
	rec.observe(t, false, n.kind)
}

// decision is the answer to a call that is denied.
func (n *denial) decision(t *evaluation) Decision {
	return Decision{Reason: clip(n.reason), Ref: t.ruling.Ref, Ticket: t.ruling.Ticket}
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

// observe tells whoever counts. The call is decided now.
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
	rec.trace(t, &o)
}

// fill makes an empty entry the record of a decision. It is too large to be handed
// around.
func (rec *recorder) fill(e *audit.Entry, t *evaluation) {
	c := t.call
	e.Kind, e.RequestID, e.Client, e.Agent, e.Tool = audit.KindDecision, c.RequestID, c.Client, c.Agent(), c.Tool
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
	for _, o := range originsOf(t) {
		e.Origins = append(e.Origins, o.Argument+": "+o.String())
	}
	recordConsent(e, t)
}

// params keeps the arguments as they may be shown. Right after the start
// it waits a moment until it is known what that is; a client that leaves
// meanwhile doesn't blank the record.
func (rec *recorder) params(e *audit.Entry, t *evaluation) {
	if t.settings.Names {
		e.Params = rec.hide.redactor().Names(t.call.Params)
		return
	}
	shown := rec.hide.shown(t)
	e.Params, e.Compact, e.Hidden = shown.Params, true, shown.Hidden()
}

// recordLevel keeps how far the conversation was trusted, and each rise with
// the step at which it came.
func recordLevel(e *audit.Entry, t *evaluation) {
	e.Digest, e.Mode, e.Why = t.digest, t.verdict.Mode.String(), t.verdict.Sentences()
	e.Started, e.Level, e.Step = t.plan.Standing.Why, t.view.Level.String(), t.view.Step
	if t.opinion != nil {
		e.Auditor, e.Why = t.opinion.Verdict.String(), append(e.Why, "The auditor: "+opinionClause(t.opinion)+".")
	}
	if t.view.After > t.view.Level {
		e.RaisedTo, e.Source = t.view.After.String(), t.plan.Source
	}
}

// recordConsent keeps who let it pass.
func recordConsent(e *audit.Entry, t *evaluation) {
	if g := t.grant; g != nil {
		word := "grant"
		if g.IsStanding() {
			word = "standing consent"
		}
		e.Card, e.People = g.ID, []audit.Person{{Name: g.By, Says: word + " until " + g.Until.UTC().Format(time.RFC3339) + approval.LikeOnly(g)}}
		return
	}
	for _, vote := range t.ruling.Votes {
		p := audit.Person{Name: vote.Person, Via: vote.Via, At: vote.At, Says: "deny"}
		if vote.Allow {
			p.Says = "allow " + vote.Scope.String()
			if vote.Edited != "" {
				p.Says += " with other arguments"
			}
		}
		e.People = append(e.People, p)
	}
}

// ref is the short name by which the owner finds this decision in the record.
func (t *evaluation) ref() string {
	if t.ruling.Ref != "" {
		return t.ruling.Ref
	}
	return codes.Ref(t.call.Client + "\n" + t.call.RequestID)
}

// refused is why the call is refused as soon as it was admitted and judged: its id is another call's, a pause binds it, the level forbids it,
// or this very request was denied before. It is nil if it may still pass.
func (t *evaluation) refused() *denial {
	switch {
	case t.view.Entry == session.Conflict:
		return deny("conflict", reasonConflict)
	case t.view.Entry == session.Braked:
		return deny("moved", reasonMoved)
	case t.brake.On:
		return t.paused()
	case t.view.Entry != session.Refused:
		return nil
	case t.view.Replayed && t.verdict.Mode != taint.Restrict:
		return deny("repeated", reasonRepeated)
	}
	return t.restricted()
}

func (t *evaluation) restricted() *denial {
	if why := t.verdict.Reason; why != "" { // the owner's own words for the agent
		return deny(t.verdict.Rule, NotPermitted+" (ref "+t.ref()+"): "+why)
	}
	return deny(t.verdict.Rule, NotPermitted+" (ref "+t.ref()+").")
}

// paused is why nothing but what is harmless passes.
func (t *evaluation) paused() *denial {
	t.verdict.Mode, t.verdict.Rule = taint.Restrict, "paused"
	t.verdict.Why = append(t.verdict.Why, policy.Step{Rule: "paused", Text: "The owner has paused the agent: only what is harmless passes.", Mode: taint.Restrict})
	return deny("paused", reasonPaused)
}

func (t *evaluation) waiting() string {
	return "Owner approval required (ref " + t.ref() + "). Ask again after the owner approves."
}

// deniedBy is what the agent reads of a no.
func deniedBy(ref string, r *approval.Ruling) string {
	switch {
	case !r.ByPerson:
		return "Not approved (ref " + ref + "): " + r.Reason + "."
	case r.Reason == "":
		return "Denied by the owner (ref " + ref + ")."
	}
	return "Denied by the owner (ref " + ref + "): " + r.Reason
}

// clip keeps a reason within what a client reads, in whole characters.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxReason {
		return s
	}
	return string(r[:maxReason-1]) + "…"
}

// addCall adds a decision to the graph of its turn. What was allowed by its level or a grant waits in memory for a moment; the rest is
// noted in the store with all before it. A pause or a stop may end many calls at once: those wait too.
func (rec *recorder) addCall(ctx context.Context, t *evaluation, n *denial) {
	if n != nil && n.kind == crashKind || t.view.Version == 0 || t.again() || t.plan.Class() == "wrapper" {
		return
	}
	news := turns.News{
		Turn: turns.KeyOf(t.call), Root: t.conv, Agent: t.call.Agent(), Facts: []provenance.Fact{callFact(t, n)},
		Persist: t.settings.Provenance.Persist || t.verdict.PersistGraph, Offline: n != nil && n.kind == faultStore, Report: t.settings.Keep,
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

// trace tells of a decision.
func (rec *recorder) trace(t *evaluation, o *Observation) {
	if rec.o.Trace != nil {
		rec.o.Trace(&Traced{Observation: *o, Parent: t.call.Trace, Ref: t.ruling.Ref, Began: t.started, Ended: t.decided, Steps: t.steps})
	}
}
