package verifier

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
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
	if no := v.spread(ctx, t); no != nil {
		return v.refuse(ctx, t, no)
	}
	v.caution(t)
	v.notesOutside(t)
	v.sites.allowed(t)
	if t.plan.ByArguments() || t.plan.Secret != "" || t.held {
		v.results.note(t, false)
	}
	if t.person {
		v.runs.answered(t, true)
	}
	v.logContext(ctx, t)
	var e audit.Entry
	v.fill(&e, t)
	e.Decision = audit.Allow
	began := v.clock()
	err := v.o.Record.Append(e)
	if t.took("record", began, err != nil); err != nil {
		v.o.Log.ErrorContext(ctx, "an allow could not be recorded and was denied", "request", v.named(t.call), "err", err)
		v.observe(t, false, faultRecord)
		return Decision{Reason: reasonRecord}
	}
	v.actions.allowed(t)
	v.repeats.allowed(t)
	v.ranModules(ctx, t)
	v.observe(t, true, t.by)
	v.addCall(ctx, t, nil)
	d := Decision{Allow: true, Ref: t.ruling.Ref}
	if t.wasEdited() {
		v.edits.note(t)
		d.Params = string(t.call.Params)
	}
	return d
}

// refuse records a deny and gives it. A deny that can't be recorded is a deny.
func (v *Verifier) refuse(ctx context.Context, t *evaluation, n *denial) Decision {
	e, began := v.refusal(ctx, t, n), v.clock()
	err := v.o.Record.Append(e)
	t.took("record", began, err != nil)
	v.refused(ctx, t, n, err)
	v.addCall(ctx, t, n)
	return n.decision(t)
}

// refusal is the record of a deny.
func (v *Verifier) refusal(ctx context.Context, t *evaluation, n *denial) (e audit.Entry) {
	v.logContext(ctx, t)
	v.fill(&e, t)
	e.Decision, e.By, e.Error = audit.Deny, "", n.kind
	e.Reason = clip(n.reason)
	if strings.Contains(n.reason, t.ref()) {
		e.Ref = t.ref()
	}
	return e
}

// refused tells whoever counts of a deny, and the log if it could not be recorded.
func (v *Verifier) refused(ctx context.Context, t *evaluation, n *denial, unrecorded error) {
	if unrecorded != nil {
		v.o.Log.ErrorContext(ctx, "a deny could not be recorded", "request", v.named(t.call), "err", unrecorded)
	}
	v.observe(t, false, n.kind)
}

// decision is the answer to a call that is denied.
func (n *denial) decision(t *evaluation) Decision {
	return Decision{Reason: clip(n.reason), Ref: t.ruling.Ref, Ticket: t.ruling.Ticket}
}

// crashed denies after a panic. What caused it may strike again while the deny
// is recorded, so the params are left out, and a second panic leaves a deny.
func (v *Verifier) crashed(ctx context.Context, t *evaluation) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			v.o.Log.ErrorContext(ctx, "a deny could not be recorded", "panic", crash.Recovered(p))
			d = Decision{Reason: reasonFault, Ref: t.ruling.Ref}
		}
	}()
	bare := *t.call
	bare.Params, t.call = nil, &bare
	return v.refuse(ctx, t, deny(crashKind, reasonFault))
}

// observe tells whoever counts. The call is decided now.
func (v *Verifier) observe(t *evaluation, allow bool, by string) {
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
	v.o.Observe(o)
	v.trace(t, &o)
}

// Reject denies a call that is authentic but can't be judged: malformed, or out
// of its time. c may hold whatever could be read of it.
func (v *Verifier) Reject(ctx context.Context, c *toolcall.Call, kind, reason string) Decision {
	var t evaluation
	v.begin(&t, c)
	v.hideKeys(c)
	return v.refuse(ctx, &t, deny(kind, reason))
}

// fill makes an empty entry the record of a decision. It is too large to be handed
// around.
func (v *Verifier) fill(e *audit.Entry, t *evaluation) {
	c := t.call
	e.Kind, e.RequestID, e.Client, e.Agent, e.Tool = audit.KindDecision, c.RequestID, c.Client, c.Agent(), c.Tool
	e.Session, e.SessionID, e.Run = c.Context.SessionKey, c.Context.SessionID, c.Context.RunID
	e.Ref, e.Card, e.WaitedMs = t.ruling.Ref, t.ruling.Card, t.ruling.Waited.Milliseconds()
	e.By, e.Replay, e.Asked = t.by, t.again(), t.asks.call
	if c.Sent != c.Tool {
		e.Sent = c.Sent
	}
	if len(c.Params) > 0 {
		v.recordParams(e, t)
	}
	if t.view.Version > 0 {
		t.recordLevel(e)
	}
	t.recordOrigins(e)
	t.recordConsent(e)
}

// recordParams keeps the arguments as they may be shown. Right after the start
// it waits a moment until it is known what that is; a client that leaves
// meanwhile doesn't blank the record.
func (v *Verifier) recordParams(e *audit.Entry, t *evaluation) {
	if t.settings.Names {
		e.Params = v.redactor().Names(t.call.Params)
		return
	}
	shown := v.shown(t)
	e.Params, e.Compact, e.Hidden = shown.Params, true, shown.Hidden()
}

// shown is the call's params as they may be shown; worked out once.
func (v *Verifier) shown(t *evaluation) *redact.Result {
	if t.shown.Params != nil {
		return &t.shown
	}
	t.shown = v.redactor().Params(t.call.Tool, t.call.Params)
	return &t.shown
}

// card is the call's params as a card shows them: where the call goes is not hidden
// because it is personal data, and what it writes to files may be shown.
func (v *Verifier) card(t *evaluation) *redact.Result {
	r := v.o.Cards()
	if r == v.redactor() && r.Secrets() == r {
		return v.shown(t)
	}
	card := r.Card(t.call.Tool, t.call.Params, t.plan.Goes())
	return &card
}

// secretsOnCard are the call's params as a card would show them if personal data were no reason to hide anything.
func (v *Verifier) secretsOnCard(t *evaluation) *redact.Result {
	r := v.o.Cards()
	if r == v.redactor() {
		return v.secrets(t)
	}
	card := r.Secrets().Params(t.call.Tool, t.call.Params)
	return &card
}

// secrets is the call's params with nothing but secrets hidden, for what is decided.
func (v *Verifier) secrets(t *evaluation) *redact.Result {
	r := v.redactor()
	if r.Secrets() == r {
		return v.shown(t)
	}
	found := r.Secrets().Params(t.call.Tool, t.call.Params)
	return &found
}

// hideSource hides what a source must not be called: it is kept, and shown to
// people much later. It is made of the tool's name and a word of the params. If
// something in these is hidden, that word must be among what is not.
func (v *Verifier) hideSource(t *evaluation) {
	tool, word, _ := strings.Cut(t.plan.Source, " ")
	if shown := v.shown(t); shown.Hidden() > 0 && !strings.Contains(strings.ToLower(string(shown.Params)), strings.ToLower(word)) {
		t.plan.Source = tool
	}
	names := [2]string{t.plan.Source, t.call.Sent}
	v.redactor().Lines(&names[0], &names[1])
	t.plan.Source = names[0]
	if names[1] != t.call.Sent { // the tool's name is the same in small letters
		t.plan.Source = names[1]
	}
}

// toolName is a tool's name as it may be kept. A secret in it is looked for in the
// name as it was sent: small letters may disguise it.
func (v *Verifier) toolName(tool, sent string) string {
	shown := sent
	if v.redactor().Lines(&shown); shown != sent {
		return shown
	}
	return tool
}

// redactor is the one in force. Right after the start it is given a moment to
// know what to hide; if that is not enough, it hides all.
func (v *Verifier) redactor() *redact.Redactor {
	r := v.o.Redactor()
	if !r.IsReady() {
		ctx, cancel := context.WithTimeout(context.Background(), recordPatience)
		defer cancel()
		_ = r.Wait(ctx)
	}
	return r
}

// recordLevel keeps how far the conversation was trusted, and each rise with
// the step at which it came.
func (t *evaluation) recordLevel(e *audit.Entry) {
	e.Digest, e.Mode, e.Why = t.digest, t.verdict.Mode.String(), t.verdict.Sentences()
	e.Started, e.Level, e.Step = t.plan.Standing.Why, t.view.Level.String(), t.view.Step
	if t.opinion != nil {
		e.Auditor, e.Why = t.opinion.Verdict.String(), append(e.Why, "The auditor: "+t.heard()+".")
	}
	if t.view.After > t.view.Level {
		e.RaisedTo, e.Source = t.view.After.String(), t.plan.Source
	}
}

// recordOrigins keeps where arguments came from, if anyone asked.
func (t *evaluation) recordOrigins(e *audit.Entry) {
	for _, o := range t.origins() {
		e.Origins = append(e.Origins, o.Argument+": "+o.String())
	}
}

// recordConsent keeps who let it pass.
func (t *evaluation) recordConsent(e *audit.Entry) {
	if t.grant != nil {
		e.Card, e.People = t.grant.ID, []audit.Person{{Name: t.grant.By, Says: t.grantWord() + " until " + t.grant.Until.UTC().Format(time.RFC3339) + approval.LikeOnly(t.grant)}}
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

func (t *evaluation) grantWord() string {
	if t.grant.IsStanding() {
		return "standing consent"
	}
	return "grant"
}

// storeFault turns a store's error into a deny, and tells the log which.
func (v *Verifier) storeFault(ctx context.Context, during string, err error) *denial {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return deny(callerGone, reasonFault)
	case errors.Is(err, session.ErrForged):
		v.o.Log.ErrorContext(ctx, "the store holds something that is not ours", "during", during, "err", err)
		return deny("forged", reasonFault)
	}
	v.o.Log.ErrorContext(ctx, "the store failed", "during", during, "err", err)
	return deny(faultStore, reasonStore)
}

// ref is the short name by which the owner finds this decision in the record.
func (t *evaluation) ref() string {
	if t.ruling.Ref != "" {
		return t.ruling.Ref
	}
	return codes.Ref(t.call.Client + "\n" + t.call.RequestID)
}

// refused is why the store refused: the level, or that this very request was
// denied before.
func (t *evaluation) refused() *denial {
	if t.view.Replayed && t.verdict.Mode != taint.Restrict {
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

func (t *evaluation) silent() string {
	return "The owner did not answer in time (ref " + t.ref() + "). Ask again after the user's next message, or in ten minutes."
}

func (t *evaluation) deniedBy(r approval.Ruling) string {
	if !r.ByPerson {
		return "Not approved (ref " + t.ref() + "): " + r.Reason + "."
	}
	if r.Reason == "" {
		return "Denied by the owner (ref " + t.ref() + ")."
	}
	return "Denied by the owner (ref " + t.ref() + "): " + r.Reason
}

// clip keeps a reason within what a client reads, in whole characters.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxReason {
		return s
	}
	return string(r[:maxReason-1]) + "…"
}
