// Package verifier decides: a tool call comes in, an explained decision goes
// out, with a person in between where the policy says so.
//
// [Verifier.Verify] reads top to bottom like the decision itself: plan, admit,
// judge, consent, commit, record, one file a stage. Every way out of it but one denies: an error,
// a lost store, a panic, a full disk, a client that has gone. The one that
// allows is release, and it writes the record first.
//
// It refuses to guess. What the store does not say is untrusted, what no client
// attested counts for nothing, and what can't be recorded does not happen. Tool
// output never comes here.
package verifier

import (
	"cmp"
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// Verifier decides calls. It is safe for concurrent use. Its parts are in the order in which a call meets them.
type Verifier struct {
	o     *Options
	hide  *hiding
	turns *turns.Keeper

	fresh    *fresh
	judging  *judging
	admitter *admitter

	people    *people
	auditing  *auditing
	workspace *workspace

	recentAllows recentAllows
	edits        edits
	results      *resultLevels
	recorder     *recorder

	listener *listener
	runtimes runtimes
}

// Decision is the answer to a call. The zero Decision denies.
type Decision struct {
	Allow  bool
	Reason string // for the agent: no code, no policy detail
	Ref    string // set when a person was asked
	Ticket string // by which the client can learn of a late yes; set where the question is still open
	Params string // what runs, a JSON object, where a person changed the arguments; empty: what was asked about
}

const (
	defaultHold    = 25 * time.Second
	defaultMaxHold = 590 * time.Second
	holdMargin     = 5 * time.Second // left for the caller to hear the answer before it gives up
	defaultWait    = 400 * time.Millisecond
)

// begin starts a call under the settings in force: a reload does not change
// them halfway.
func (v *Verifier) begin(t *evaluation, c *toolcall.Call) {
	t.call, t.started, t.settings = c, time.Now(), v.o.Settings()
	t.auditor = v.o.Auditor()
	s := &t.settings
	s.Hold, s.MaxHold = cmp.Or(s.Hold, defaultHold), cmp.Or(s.MaxHold, defaultMaxHold)
	s.Keep = cmp.Or(s.Keep, 10*time.Minute+s.MaxHold+time.Minute)
}

// Verify decides one call, and may wait for people. It returns no error: every error is a deny.
func (v *Verifier) Verify(ctx context.Context, c *toolcall.Call) Decision {
	return v.decide(ctx, c, (*policy.Policy).Plan)
}

// decide is the decision, under a plan that one policy makes, even across a
// reload.
func (v *Verifier) decide(ctx context.Context, c *toolcall.Call, plan func(*policy.Policy, *toolcall.Call) policy.Plan) (d Decision) {
	t := &evaluation{planner: plan}
	v.begin(t, c)
	defer func() {
		if p := recover(); p != nil {
			d = v.panicked(ctx, t, p)
		}
	}()
	v.hide.keys(c)
	v.fresh.place(ctx, c)
	v.judging.runs.reached(c)

	v.judging.plan(t)
	v.judging.runs.limit(t)
	if no := v.admitter.admit(ctx, t); no != nil {
		return v.recorder.refuse(ctx, t, no)
	}
	v.judging.runs.counted(c, c.Context.Iteration)
	v.judging.judge(ctx, t)
	if no := t.refused(); no != nil {
		return v.recorder.refuse(ctx, t, no)
	}
	if t.view.Entry == session.Passed {
		return v.passed(ctx, t)
	}
	return v.conclude(ctx, t)
}

// refused is why the call is refused as soon as it was admitted and judged: its id is another call's, a pause binds it, the level forbids it,
// or this very request was denied before. It is nil if it may still pass.
func (t *evaluation) refused() *denial {
	switch {
	case t.view.Entry == session.Conflict:
		return deny("conflict", reasonConflict)
	case t.view.Entry == session.PauseChanged:
		return deny("moved", reasonMoved)
	case t.pauses.On:
		return t.paused()
	case t.view.Entry != session.Refused:
		return nil
	case t.view.Replayed && t.verdict.Mode != taint.Restrict:
		return deny("repeated", reasonRepeated)
	}
	return t.restricted()
}

// conclude seeks a consent for a call that the level alone does not decide. It settles a call that something lets pass, and
// releases it; or denies it. It is judged again if the conversation moved meanwhile.
func (v *Verifier) conclude(ctx context.Context, t *evaluation) Decision {
	for range settleTries {
		if no := v.consent(ctx, t); no != nil {
			return v.denyInTime(ctx, t, no)
		}
		again, no := v.settle(ctx, t)
		switch {
		case no != nil:
			return v.denyInTime(ctx, t, no)
		case !again:
			return v.release(ctx, t)
		}
		v.judging.judge(ctx, t)
	}
	return v.denyInTime(ctx, t, deny("moved", reasonMoved))
}

// panicked denies a call whose decision ended in a panic.
func (v *Verifier) panicked(ctx context.Context, t *evaluation, p any) Decision {
	v.o.Log.ErrorContext(ctx, "a decision ended in a panic and was denied", "panic", crash.Recovered(p))
	return v.recorder.crashed(ctx, t)
}

// Notice takes in a call that the runtime will not ask about: no person is asked and
// nothing is denied, but what it brings in is raised and recorded before the
// answer. It goes the way of any call, under a plan that lets it pass.
func (v *Verifier) Notice(ctx context.Context, c *toolcall.Call) loop.Answer {
	d := v.decide(ctx, c, (*policy.Policy).Notice)
	if !d.Allow {
		return Refused(loop.BeforeToolCall, d.Reason)
	}
	return loop.Answer{Accepted: true}
}

// Reject denies a call that is authentic but can't be judged: malformed, or out
// of its time. c may hold whatever could be read of it.
func (v *Verifier) Reject(ctx context.Context, c *toolcall.Call, kind, reason string) Decision {
	var t evaluation
	v.begin(&t, c)
	v.hide.keys(c)
	return v.recorder.refuse(ctx, &t, deny(kind, reason))
}
