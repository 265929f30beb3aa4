package verifier

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	defaultHold    = 25 * time.Second
	defaultMaxHold = 590 * time.Second
	holdMargin     = 5 * time.Second // left for the caller to hear the answer before it gives up
	tries          = 5               // of one call: an opinion, a person's yes, and what moves meanwhile
)

// What lets a call pass, besides the id of a rule.
const (
	ByGrant   = "grant"
	byPerson  = "person"
	byAuditor = "auditor"
	byReplay  = "replay" // it was allowed before, by someone
)

// planner makes the plan of a call by one policy.
type planner func(*policy.Policy, *protocol.Call) policy.Plan

// evaluation is one call on its way through a decision.
type evaluation struct {
	call     *protocol.Call
	planner  planner
	settings Settings
	auditor  *auditor.Auditor // nil: there is none
	began    time.Time
	calls    int  // of its run, with this one
	stopped  bool // the run makes no more calls that count

	rules   *policy.Policy
	plan    policy.Plan
	starter policy.Initiator // as the call says, whatever the conversation knows of it
	birth   taint.Level
	texts   texts

	asked   string          // the digest of the call before a person changed it; empty: nobody did
	ruling  approval.Ruling // what people said
	held    bool            // they were asked, and waited for
	opinion *auditor.Opinion

	found
}

// found is what the last look at the conversation found, and what came of it.
type found struct {
	judged  bool
	start   start
	view    policy.View
	after   taint.Level
	sources []string // the tools whose results need caution
	side    *side    // what was said and brought, where it was read
	verdict policy.Verdict

	ask    *approval.Ask // what people would be asked
	grant  *store.Grant
	always bool    // and it is one of the page, which covers the call if the auditor has nothing against it
	by     string  // what lets it pass; empty: nothing yet
	no     *denial // why it can't pass
	replay bool    // this request was decided before
}

// begin starts a call under the settings in force: a reload doesn't change them halfway.
func (v *Verifier) begin(c *protocol.Call, planner planner) *evaluation {
	e := &evaluation{call: c, planner: planner, began: time.Now(), settings: v.o.Settings(), auditor: v.o.Auditor()}
	s := &e.settings
	s.Hold, s.MaxHold = cmp.Or(s.Hold, defaultHold), cmp.Or(s.MaxHold, defaultMaxHold)
	s.Keep = cmp.Or(s.Keep, 10*time.Minute+s.MaxHold+time.Minute)
	return e
}

// decide is the way of every call: plan, judge on the conversation, ask who can consent, judge again, record, answer.
func (v *Verifier) decide(ctx context.Context, e *evaluation) Decision {
	v.hide.keys(e.call)
	v.runs.reached(e.call)
	v.plan(e)
	if v.runs.counted(e.call, e.call.Context.Iteration); e.plan.RunCap > 0 {
		e.calls = v.runs.called(e.call)
	}
	if no := v.seek(ctx, e); no != nil {
		return v.refuse(ctx, e, no)
	}
	if e.by == byPerson && e.verdict.AtCap {
		v.runs.answered(e, true)
	}
	if v.record(ctx, e, nil) != nil {
		return Decision{Reason: reasonRecord}
	}
	changed := ""
	if e.wasEdited() {
		changed = string(e.call.Params)
	}
	return Decision{Allow: true, Ref: e.ruling.Ref, Params: changed}
}

// plan asks the policy in force about the call.
func (v *Verifier) plan(e *evaluation) {
	e.rules = v.o.Policy()
	e.plan = e.planner(e.rules, e.call)
	e.starter, e.birth = e.plan.Initiator, e.plan.Birth
	v.hide.plan(e)
	yeses := 0
	if e.plan.Counts() {
		yeses, e.stopped = v.runs.answers(e.call)
	}
	e.plan.Loop(yeses, e.stopped)
}

// seek looks for what lets the call pass until the store has committed an allow. It returns why it can't pass.
func (v *Verifier) seek(ctx context.Context, e *evaluation) *denial {
	for range tries {
		if v.o.Policy() != e.rules { // people may have taken minutes
			v.plan(e)
		}
		err := v.o.Store.Update(ctx, nameOf(e.call), func(t *store.Tx) error { return v.judge(t, e) })
		switch {
		case err != nil:
			return v.fault(ctx, "judge", err)
		case e.no != nil:
			return e.no
		case e.by != "":
			return nil
		}
		if no := v.consent(ctx, e); no != nil {
			v.keepDenied(ctx, e, no)
			return no
		}
	}
	return deny("moved", reasonMoved)
}

// judge decides the call on the conversation that the commit rests on. It runs again where another was first, so it
// begins anew each time. An allow is committed with all that it changes, a deny with the request; a call that needs
// someone's consent changes nothing but what the start of its run brings in.
func (v *Verifier) judge(t *store.Tx, e *evaluation) error {
	e.found = found{view: policy.View{Now: t.Now}}
	before := t.Request(requestID(e.call))
	if before != nil && before.Body != e.call.Body {
		e.no = deny("conflict", reasonConflict)
		return nil
	}
	if err := v.meet(t, e); err != nil {
		return err
	}
	e.verdict = e.plan.Judge(e.view)
	e.judged, e.replay = true, before != nil && (before.Allow || before.Denied)
	switch {
	case t.Paused(e.call.Agent()) != nil && !e.plan.Harmless():
		e.no = e.paused()
	case e.verdict.Mode == taint.Restrict, e.wasEdited() && e.plan.Class() == "wrapper":
		e.no = e.restricted()
	case e.replay && (!before.Allow || before.By == byEdit): // what a person made of an edited call isn't kept
		e.no = deny("repeated", reasonRepeated)
	case e.replay:
		if e.by = byReplay; e.verdict.Mode == taint.Allow {
			e.by = e.verdict.Rule
		}
		return nil
	default:
		if err := v.consented(t, e); err != nil {
			return err
		}
	}
	switch {
	case e.no != nil && !e.replay:
		e.deny(t)
	case e.by != "":
		return v.allow(t, e)
	case e.no == nil:
		r := e.request(false)
		r.Denied, r.Waits = false, true
		t.Decide(r)
		e.note(t, waiting)
	}
	return nil
}

// meet says what the conversation is worth to this call, after what the start of its run brings in.
func (v *Verifier) meet(t *store.Tx, e *evaluation) error {
	s, err := v.enter(t, e.call, e.starter, e.birth)
	if err != nil {
		return err
	}
	s.arrive(t)
	e.start, e.plan.Initiator, e.plan.Birth = s, s.Initiator, s.birth
	c, w := t.C, &e.view
	w.Level, w.Lost, w.Bears = c.Level(s.sees), t.Lost, e.texts.bears
	w.Secret = cmp.Or(c.Secret(s.sees), s.secret)
	if cause := c.Cause(s.sees); cause != nil {
		w.Cause = policy.Cause{What: cause.What, Level: cause.Level, At: cause.At}
	}
	if w.Seen = t.Unseen == nil; !w.Seen {
		w.Mark = t.Unseen.Ref
	}
	w.Capped, w.Halted = e.plan.RunCap > 0 && (e.calls > e.plan.RunCap || e.stopped), e.stopped
	e.after, e.sources = w.Level, slices.Clone(c.Caution)
	if e.plan.Leaves && (w.Secret != "" || !c.Reset.IsZero()) {
		return v.readSide(t, e)
	}
	return nil
}

// consented finds what lets the call pass in this very commit: the policy, a grant, a yes that a person gave, the
// auditor. Where it finds nothing, someone has to be asked.
func (v *Verifier) consented(t *store.Tx, e *evaluation) error {
	audited := e.isAudited()
	if e.verdict.Mode == taint.Allow && !audited && !e.held {
		e.by = e.verdict.Rule
		return nil
	}
	if e.side == nil {
		if err := v.readSide(t, e); err != nil {
			return err
		}
	}
	e.ask = v.question(e)
	if e.verdict.Mode == taint.Confirm && !e.wasEdited() {
		g := v.o.Desk.Granted(t, e.ask)
		e.always = g != nil && !slices.ContainsFunc(t.C.Grants, func(o store.Grant) bool { return o.ID == g.ID })
		if g != nil && (!e.always || !audited) {
			e.by, e.grant = ByGrant, g
			return nil
		}
	}
	if e.held || slices.ContainsFunc(t.C.Open, func(o store.OpenCard) bool { return o.Digest == e.ask.Digest }) {
		if done, err := v.claim(t, e); done || err != nil {
			return err
		}
	}
	if e.verdict.Mode == taint.Confirm && v.auditorAnswers(e) {
		e.by = byAuditor
	}
	return nil
}

// claim takes the yes that people gave to this call.
func (v *Verifier) claim(t *store.Tx, e *evaluation) (done bool, err error) {
	var heard *approval.Ruling
	if e.held {
		heard = &e.ruling
	}
	ruling, yes, err := v.o.Desk.Claim(t, e.ask, e.call.RequestID, heard)
	switch {
	case err != nil:
		return false, err
	case yes:
		e.heard(ruling)
		e.by = byPerson
	case ruling.Denied || ruling.Late || e.held:
		e.heard(ruling)
		e.no = e.ruledOut()
	}
	return e.by != "" || e.no != nil, nil
}

// allow writes all that the allow changes: what the call brings in, what it carries to other conversations, what it may
// write unseen, and the request itself.
func (v *Verifier) allow(t *store.Tx, e *evaluation) error {
	raise, secret, err := v.reach(t, e)
	if err != nil {
		return err
	}
	c := t.C
	if raise > taint.System {
		c.Raise(e.start.raises, raise, e.plan.Source, t.Now)
	}
	c.Expose(e.start.raises, cmp.Or(e.plan.Secret, secret))
	e.after = c.Level(e.start.sees)
	if e.brings(raise) {
		c.NeedsCaution(e.call.Tool)
	}
	if e.writesUnseen() && t.Unseen == nil {
		t.MarkUnseen(e.call.Tool)
	}
	e.informs(c, raise)
	e.note(t, released)
	t.Decide(e.request(true))
	return nil
}

// deny keeps the request as denied.
func (e *evaluation) deny(t *store.Tx) {
	if e.ruling.Denied && e.ruling.ByPerson {
		e.note(t, denied)
	}
	t.Decide(e.request(false))
}

// writesUnseen reports whether the call may write what no person has seen: in a conversation in which others than the
// owner speak, or with what it brings in itself. Excepted are an install that passes in a clean conversation or by a
// person's yes, and a call to which a person has said yes, whose card showed all of it, and which brings nothing in.
func (e *evaluation) writesUnseen() bool {
	person := e.by == byPerson
	switch {
	case e.plan.Writes == policy.WritesNothing, taint.Worse(e.view.Level, e.plan.Raise) < taint.Shared,
		e.plan.Writes == policy.WritesInstall && (person || e.view.Level < taint.Shared),
		e.plan.Writes == policy.WritesShown && person && e.ruling.Whole && !e.wasEdited():
		return false
	}
	return true
}

// byEdit is what the request's document says of a call that a person allowed with other params.
const byEdit = "edit"

// requestID names a request of a conversation: in another one it is another request.
func requestID(c *protocol.Call) string { return c.Context.SessionKey + "\n" + c.RequestID }

func (e *evaluation) request(allow bool) store.Request {
	r := store.Request{
		ID: requestID(e.call), Body: e.call.Body, Allow: allow, Denied: !allow, By: e.by, Keep: e.settings.Keep,
	}
	if allow && e.wasEdited() {
		r.By = byEdit
	}
	return r
}

// consent asks who can let the call pass: the auditor first, then people. It returns nil where the call is to be judged
// again with what they said.
func (v *Verifier) consent(ctx context.Context, e *evaluation) *denial {
	if v.asksAuditor(e) {
		v.audit(ctx, e)
		if (e.verdict.Mode == taint.Allow || e.always) && !e.isAudited() || v.auditorAnswers(e) {
			return nil
		}
	}
	return v.askPeople(ctx, e)
}

// keepDenied lets the same request have the same answer, and keeps what is to be said below the agent's next message.
// On a connection that is gone no answer arrives: the request stays open for the client that sends it again.
func (v *Verifier) keepDenied(ctx context.Context, e *evaluation, no *denial) {
	if no.kind == faultStore || no.kind == callerGone {
		return
	}
	err := v.o.Store.Update(context.WithoutCancel(ctx), nameOf(e.call), func(t *store.Tx) error {
		if r := t.Request(requestID(e.call)); r != nil && (r.Allow || r.Denied) {
			return nil
		}
		if no.footer != "" {
			t.C.AddFooter(e.call.Context.RunID, no.footer)
		}
		e.deny(t)
		return nil
	})
	if err != nil {
		v.o.Log.WarnContext(ctx, "a deny could not be kept; the same request may be asked again",
			"request", v.hide.request(e.call), "err", err)
	}
}

// record writes the decision down, and reports it: an allow where no is nil. No record, no allow.
func (v *Verifier) record(ctx context.Context, e *evaluation, no *denial) error {
	entry, by := v.entry(ctx, e), e.by
	if no == nil {
		entry.Decision = record.Allow
	} else {
		entry.Decision, entry.By, entry.Error, entry.Reason = record.Deny, "", no.kind, clip(no.reason)
		if by = no.kind; strings.Contains(no.reason, e.ref()) {
			entry.Ref = e.ref()
		}
	}
	v.partOf(e, &entry)
	err := v.o.Record.Append(entry)
	if err != nil {
		v.o.Log.ErrorContext(ctx, "a decision could not be recorded, so it is a deny", "request",
			v.hide.request(e.call),
			"err", err)
		no, by = deny(faultRecord, reasonRecord), faultRecord
	}
	v.observe(e, no == nil, by)
	return err
}

// refuse records a deny and gives it. One that can't be recorded is a deny all the same.
func (v *Verifier) refuse(ctx context.Context, e *evaluation, no *denial) Decision {
	_ = v.record(ctx, e, no)
	return Decision{Reason: clip(no.reason), Ref: e.ruling.Ref, Ticket: e.ruling.Ticket}
}

// fault turns an error of the store into a deny, and tells the log which.
func (v *Verifier) fault(ctx context.Context, during string, err error) *denial {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return deny(callerGone, reasonFault)
	case errors.Is(err, store.ErrBusy):
		return deny("moved", reasonMoved)
	case errors.Is(err, store.ErrForged):
		v.o.Log.ErrorContext(ctx, "the store holds something that is not ours", "during", during, "err", err)
		return deny("forged", reasonFault)
	}
	v.o.Log.ErrorContext(ctx, "the store failed", "during", during, "err", err)
	return deny(faultStore, reasonStore)
}

// runsUnseen reports whether the call may run files of the workspace as they were written unseen.
func (e *evaluation) runsUnseen() bool {
	return !e.view.Seen && e.plan.Line != nil && e.plan.Line.Effect != command.Look
}
