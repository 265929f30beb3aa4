package verifier

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	holdMargin = 5 * time.Second // left for the caller to hear the answer before it gives up
	tries      = 5               // of one call: an opinion, a person's yes, and what moves meanwhile

	// keepDeadline is how long a deny waits until it is kept, so that with the record it is given within half a second.
	keepDeadline = 200 * time.Millisecond
)

// What lets a call pass, besides the id of a rule.
const (
	ByGrant   = "grant"
	byPerson  = "person"
	byAuditor = "auditor"
	byReplay  = "replay" // it was allowed before, by someone
	byEdit    = "edit"   // in the request's document alone: a person allowed it with other params
)

// evaluation is one call on its way through a decision.
type evaluation struct {
	v      *Verifier
	terms  *Terms
	call   *protocol.Call
	id     string // see [requestID]
	notice bool   // the runtime doesn't ask about it
	began  time.Time
	asked  string          // the digest of the call before a person changed it; empty: nobody did
	held   bool            // people were asked, and waited for
	ruling approval.Ruling // what they said

	// what was found out before its conversation is looked at
	plan    policy.Plan
	starter policy.Initiator // as the call says, whatever the conversation knows of it
	birth   taint.Level
	run     run
	bears   bool             // it holds something that looks like a secret
	params  redact.Result    // see [evaluation.shown]
	opinion *auditor.Opinion // nil: the auditor was not asked

	judged
}

// judged is what came of the last look at the conversation.
type judged struct {
	start   start
	view    policy.View
	sources []string       // the tools whose results make the auditor look at the call
	seen    []lineage.Seen // what was said and brought; nil: that was not read
	verdict policy.Verdict
	known   bool // all of this is set
	after   taint.Level
	ask     *approval.Ask // what people would be asked; nil: nobody needs to be
	grant   *store.Grant
	always  bool    // and it is one of the page, which covers the call if the auditor has nothing against it
	by      string  // what lets it pass; empty: nothing yet
	no      *denial // why it can't pass
	replay  bool    // this request was decided before
}

// decide is the way of every call: plan, judge on the conversation, ask who can consent, judge again, record, answer.
func (e *evaluation) decide(ctx context.Context) Decision {
	e.makePlan()
	if e.plan.RunCap > 0 {
		e.run = e.v.runs.of(e.call, func(n *run) { n.calls++ })
	}
	if no := e.seek(ctx); no != nil {
		return e.refuse(ctx, no)
	}
	if e.by == byPerson && e.verdict.AtCap {
		e.v.runs.of(e.call, func(n *run) { n.yeses = max(n.yeses, e.plan.GoesOn(e.view.Yeses)) })
	}
	if e.record(ctx, nil) != nil {
		return Decision{Reason: reasonRecord}
	}
	d := Decision{Allow: true, Ref: e.ruling.Ref}
	if e.asked != "" {
		d.Params = string(e.call.Params)
	}
	return d
}

// makePlan asks the policy about the call. What was found out under other terms is forgotten.
func (e *evaluation) makePlan() {
	plan := e.terms.Policy.Plan
	if e.notice {
		plan = e.terms.Policy.Notice
	}
	e.run = e.v.runs.reach(e.call, e.call.Context.Iteration)
	e.plan, e.params = plan(e.call), redact.Result{}
	e.starter, e.birth = e.plan.Initiator, e.plan.Birth
	e.hide()
}

// seek looks for what lets the call pass until the store has committed an allow. It returns why it can't pass.
func (e *evaluation) seek(ctx context.Context) *denial {
	for range tries {
		if now := e.v.o.Terms(); now != e.terms { // people may have taken minutes
			e.terms = now
			e.makePlan()
		}
		err := e.v.o.Store.Update(ctx, nameOf(e.call), e.judge)
		switch {
		case err != nil:
			return e.v.fault(ctx, "judge", err)
		case e.no != nil:
			return e.no
		case e.by != "":
			return nil
		}
		if e.no = e.consent(ctx); e.no != nil {
			e.keepDenied(ctx)
			return e.no
		}
	}
	return deny("moved", reasonMoved)
}

// judge decides the call on the conversation that the commit rests on. It runs again where another was first, so it
// begins anew each time. An allow is committed with all that it changes, a deny with the request; a call that needs
// someone's consent changes nothing but what the start of its run brings in.
func (e *evaluation) judge(t *store.Tx) (err error) {
	e.judged = judged{}
	before := t.Request(e.id)
	if before != nil && before.Body != e.call.Body {
		e.no = deny("conflict", reasonConflict)
		return nil
	}
	e.meet(t)
	e.verdict, e.known = e.plan.Judge(e.view), true
	e.after, e.replay = e.view.Level, before != nil && (before.Allow || before.Denied)
	switch {
	case t.Paused(e.call.Agent()) != nil && !e.plan.Harmless():
		e.no = e.paused()
	case e.verdict.Mode == taint.Restrict, e.asked != "" && e.plan.Class() == "wrapper":
		e.no = restricted(&e.verdict, e.ref())
	case e.replay && (!before.Allow || before.By == byEdit): // what a person made of an edited call isn't kept
		e.no = deny("repeated", reasonRepeated)
	case !e.replay:
		err = e.consented(t)
	case e.verdict.Mode == taint.Allow:
		e.by = e.verdict.Rule
	default:
		e.by = byReplay
	}
	if err != nil || e.replay {
		return err
	}
	if e.no == nil && e.by != "" {
		e.allow(t)
	}
	e.keep(t)
	return nil
}

// meet says what the conversation is worth to this call, after what the start of its run brings in.
func (e *evaluation) meet(t *store.Tx) {
	s := enter(t, e.call, e.starter, e.birth)
	s.arrive(t)
	e.start, e.plan.Initiator, e.plan.Birth = s, s.Initiator, s.birth
	c := t.C
	e.view = policy.View{
		Now: t.Now, Level: c.Level(s.sees), Lost: t.Lost, Secret: cmp.Or(c.Secret(s.sees), s.secret), Bears: e.bears,
		Seen: t.Unseen == nil, Calls: e.run.calls, Yeses: e.run.yeses, Halted: e.run.stopped,
	}
	e.sources = e.cautions(t)
	if t.Unseen != nil {
		e.view.Mark = t.Unseen.Ref
	}
	if cause := c.Cause(s.sees); cause != nil {
		e.view.Cause = policy.Cause{What: cause.What, Level: cause.Level, At: cause.At}
	}
	if e.plan.Leaves && (e.view.Secret != "" || !c.Reset.IsZero()) {
		e.trace(t)
	}
}

// consented finds what lets the call pass in this very commit: the policy, a grant, a yes that a person gave, the
// auditor. Where it finds nothing, someone has to be asked.
func (e *evaluation) consented(t *store.Tx) error {
	audited := e.isAudited()
	if e.verdict.Mode == taint.Allow && !audited && !e.held {
		e.by = e.verdict.Rule
		return nil
	}
	if e.view.Origins == nil {
		e.trace(t)
	}
	e.ask = e.question()
	if e.verdict.Mode == taint.Confirm && e.asked == "" {
		g := e.v.o.Desk.Granted(t, e.ask)
		e.always = g != nil && !slices.ContainsFunc(t.C.Grants, func(o store.Grant) bool { return o.ID == g.ID })
		if g != nil && (!e.always || !audited) {
			e.by, e.grant = ByGrant, g
			return nil
		}
	}
	err := e.claim(t)
	if err == nil && e.by == "" && e.no == nil && e.verdict.Mode == taint.Confirm && e.auditorAnswers() {
		e.by = byAuditor
	}
	return err
}

// claim takes the yes that people gave to this call.
func (e *evaluation) claim(t *store.Tx) error {
	var heard *approval.Ruling
	if e.held {
		heard = &e.ruling
	}
	ruling, yes, err := e.v.o.Desk.Claim(t, e.ask, e.call.RequestID, heard)
	if err != nil || !yes && !ruling.Denied && !ruling.Late && !e.held {
		return err
	}
	ruling.Waited = e.ruling.Waited
	if e.ruling = ruling; yes {
		e.by = byPerson
	} else {
		e.no = e.ruledOut()
	}
	return nil
}

// allow writes all that the allow changes: what the call brings in, what it carries to other conversations, what it may
// write unseen.
func (e *evaluation) allow(t *store.Tx) {
	raise, secret := e.reach(t)
	c, s, source, run := t.C, &e.start, e.plan.Source, e.call.Context.RunID
	if raise > taint.System {
		c.Raise(s.raises, raise, source, t.Now)
	}
	c.Expose(s.raises, cmp.Or(e.plan.Secret, secret))
	e.after = c.Level(s.sees)
	if a := e.terms.Auditor; a != nil && raise > taint.System {
		tool := e.terms.toolName(e.call.Tool, e.call.Sent)
		if a.Caution.On(e.call.Tool, t.Declares(tool), raise) {
			c.NeedsCaution(tool)
		}
	}
	if t.Unseen == nil && e.writesUnseen() {
		t.MarkUnseen(e.call.Tool)
	}
	if run != "" && raise >= taint.Shared && source != "" { // it comes from beyond the owner's machine
		c.AddFooter(run, "Informed by "+source+" ("+raise.String()+").")
	}
}

// writesUnseen reports whether the call may write what no person has seen: in a conversation in which others than the
// owner speak, or with what it brings in itself. Excepted are an install that passes in a clean conversation or by a
// person's yes, and a call to which a person has said yes, whose card showed all of it, and which brings nothing in.
func (e *evaluation) writesUnseen() bool {
	level, byPerson := e.view.Level, e.by == byPerson
	switch {
	case taint.Worse(level, e.plan.Raise) < taint.Shared:
		return false
	case e.plan.Writes == policy.WritesInstall:
		return !byPerson && level >= taint.Shared
	case e.plan.Writes == policy.WritesShown:
		return !byPerson || !e.ruling.Whole || e.asked != ""
	}
	return e.plan.Writes != policy.WritesNothing
}

// requestID names a request of a conversation: in another one it is another request.
func requestID(c *protocol.Call) string { return c.Context.SessionKey + "\n" + c.RequestID }

// outcomeID names what became of a call, for the event of its result: that names the tool and the call, not the
// arguments by which the call was judged. No request can have such an id, for it holds a space.
func outcomeID(c *protocol.Call, id, tool string) string {
	return "outcome of " + id + " " + tool + " in " + c.Context.SessionKey
}

// keep keeps what became of the request, for a client that asks again, and of its call, for the event of its result. Of
// the call nothing is kept where the policy alone allowed it, and it brings in what its tool otherwise returns, nor
// where no person denied it: it counts as what the tool returns.
func (e *evaluation) keep(t *store.Tx) {
	allow, denied := e.no == nil && e.by != "", e.no != nil
	r := store.Request{
		ID: e.id, Body: e.call.Body, Allow: allow, Denied: denied, Waits: !allow && !denied, By: e.by,
		Keep: e.terms.Keep,
	}
	if allow && e.asked != "" {
		r.By = byEdit
	}
	t.Decide(r)
	p, id := &e.plan, e.call.Context.ToolCallID
	usual := allow && e.ask == nil && p.Secret == "" && !p.ByArguments() ||
		denied && (!e.ruling.Denied || !e.ruling.ByPerson)
	if !usual && id != "" && e.call.Context.SessionKey != "" {
		r.ID, r.Raise, r.Reads = outcomeID(e.call, id, e.call.Tool), p.Raise, p.Secret
		t.Decide(r)
	}
}

// consent asks who can let the call pass: the auditor first, then people. It returns nil where the call is to be judged
// again with what they said.
func (e *evaluation) consent(ctx context.Context) *denial {
	if e.wantsOpinion() && !e.held {
		e.audit(ctx)
		if (e.verdict.Mode == taint.Allow || e.always) && !e.isAudited() || e.auditorAnswers() {
			return nil
		}
	}
	return e.askPeople(ctx)
}

// keepDenied lets the same request have the same answer, and keeps what is to be said below the agent's next message.
// On a connection that is gone no answer arrives: the request stays open for the client that sends it again.
func (e *evaluation) keepDenied(ctx context.Context) {
	if e.no.kind == faultStore || e.no.kind == callerGone {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepDeadline)
	defer cancel()
	err := e.v.o.Store.Update(ctx, nameOf(e.call), func(t *store.Tx) error {
		if r := t.Request(e.id); r != nil && (r.Allow || r.Denied) {
			return nil
		}
		if e.no.footer != "" {
			t.C.AddFooter(e.call.Context.RunID, e.no.footer)
		}
		e.keep(t)
		return nil
	})
	if err != nil { // the same request may be asked again
		_ = e.v.fault(ctx, "keep a deny", err)
	}
}

// record writes the decision down, and reports it: an allow where no is nil. No record, no allow.
func (e *evaluation) record(ctx context.Context, no *denial) error {
	entry := e.entry(ctx, no)
	err := e.v.o.Record.Append(entry)
	if err != nil {
		e.v.o.Log.ErrorContext(ctx, "a decision could not be recorded, so it is a deny", "request",
			e.terms.request(e.call), "err", err)
		entry.Decision, entry.Error = record.Deny, faultRecord
	}
	if e.v.o.Observe != nil {
		e.v.o.Observe(&entry, e.plan.Class(), time.Since(e.began))
	}
	return err
}

// refuse records a deny and gives it. One that can't be recorded is a deny all the same.
func (e *evaluation) refuse(ctx context.Context, no *denial) Decision {
	_ = e.record(ctx, no)
	return Decision{Reason: clip(no.reason, maxReason), Ref: e.ruling.Ref, Ticket: e.ruling.Ticket}
}

// fault turns an error of the store or the desk into a deny, and tells the log which.
func (v *Verifier) fault(ctx context.Context, during string, err error) *denial {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return deny(callerGone, reasonFault)
	case errors.Is(err, approval.ErrStopped):
		return deny("stopping", reasonStopping)
	case errors.Is(err, store.ErrBusy):
		return deny("moved", reasonMoved)
	}
	v.o.Log.ErrorContext(ctx, "what a decision needs has failed", "during", during, "err", err)
	switch {
	case errors.Is(err, approval.ErrNobody):
		return deny("nobody", reasonNobody)
	case errors.Is(err, approval.ErrRecord):
		return deny(faultRecord, reasonRecord)
	case errors.Is(err, store.ErrForged):
		return deny("forged", reasonFault)
	}
	return deny(faultStore, reasonStore)
}
