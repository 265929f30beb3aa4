// Package verifier decides: a tool call comes in, an explained decision goes
// out, with a person in between where the policy says so.
//
// [Verifier.Verify] reads top to bottom like the decision itself: plan, admit,
// judge, consent, settle, release. Every way out of it but one denies: an error,
// a lost store, a panic, a full disk, a client that has gone. The one that
// allows is release, and it writes the record first.
//
// It refuses to guess. What the store does not say is untrusted, what nobody
// attested is nobody's word, and what can't be recorded does not happen. Tool
// output never comes here.
package verifier

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// Verifier decides calls. It is safe for concurrent use. Its parts are in the order in which a call meets them.
type Verifier struct {
	o     *Options
	hide  *hiding
	turns *turns.Keeper

	fresh    *fresh
	firsts   firsts
	judging  *judging
	admitter *admitter

	peers     *peers
	quiet     *quiet
	people    *people
	auditing  *auditing
	workspace *workspace

	recentAllows recentAllows
	edits        edits
	results      *resultLevels
	recorder     *recorder
	endings      *endings

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

// New makes a Verifier.
func New(o Options) (*Verifier, error) {
	if o.Policy == nil || o.Redactor == nil || o.Store == nil || o.Record == nil || o.Desk == nil || o.Visible == nil {
		return nil, errors.New("verifier: policy, redactor, store, record, desk and visible are all needed")
	}
	if len(o.Key) < 32 {
		return nil, errors.New("verifier: the server key must be at least 32 bytes")
	}
	if o.Cards == nil {
		o.Cards = o.Redactor
	}
	if o.Bodies == nil {
		o.Bodies = o.Redactor
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Upstream == nil {
		o.Upstream = func() Upstream { return nil }
	}
	if o.Auditor == nil {
		o.Auditor = func() *intent.Auditor { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Lineage == nil {
		o.Lineage = func(string) []lineage.Key { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Used == nil {
		o.Used = func(loop.Tokens, time.Duration) {}
	}
	o.StoreWait = cmp.Or(o.StoreWait, defaultWait)
	return assemble(&o), nil
}

// assemble makes the parts of a Verifier, and gives each those that it uses.
func assemble(o *Options) *Verifier {
	v := &Verifier{o: o, hide: &hiding{o: o}, results: &resultLevels{}}
	hide, seen, floor := v.hide, &exposure{}, &session.Floor{}
	v.turns = turns.New(turns.Options{
		Store: o.Store, Wait: o.StoreWait, Keep: func() time.Duration { return o.Settings().Provenance.Keep },
		Record: o.Record.Append, Hide: hide.fact, Key: o.Key, Log: o.Log,
	})
	v.fresh, v.firsts.o, v.runtimes.o, v.runtimes.hide = &fresh{o: o}, o, o, hide
	v.workspace, v.peers = &workspace{o: o, hide: hide}, &peers{o: o, hide: hide}
	known := &texts{o: o, hide: hide}
	v.judging = &judging{o: o, hide: hide, texts: known, workspace: v.workspace}
	v.admitter = &admitter{o: o, kin: &kin{o: o, exposure: seen, floor: floor}, jobs: &jobs{o: o, hide: hide}, exposure: seen, floor: floor}
	v.people = &people{o: o, hide: hide, judging: v.judging, peers: v.peers, texts: known, results: v.results, over: v.turns.IsOver}
	v.quiet = &quiet{
		o: o, exposure: seen, words: ownWords{hide},
		actions: actions{hide: hide, over: v.turns.IsOver},
		sites:   sites{o: o, hide: hide, over: v.turns.IsOver, exposure: seen},
		own:     ownData{o: o, hide: hide, exposure: seen, texts: known},
		repeats: repeats{o: o, hide: hide, workspace: v.workspace, question: v.people.question},
	}
	v.people.repeats = &v.quiet.repeats
	v.auditing = &auditing{o: o, hide: hide, kin: v.admitter.kin, exposure: seen, people: v.people}
	v.recorder = &recorder{o: o, hide: hide, turns: v.turns}
	v.endings = &endings{o: o, hide: hide, recorder: v.recorder, ending: make(chan struct{}, endAtOnce)}
	v.listener = &listener{
		o: o, hide: hide, judging: v.judging, admitter: v.admitter, fresh: v.fresh, quiet: v.quiet, auditing: v.auditing,
		results: v.results, texts: known, turns: v.turns,
	}
	return v
}

// Turns keeps the graphs of turns.
func (v *Verifier) Turns() *turns.Keeper { return v.turns }

// begin starts a call under the settings in force: a reload does not change
// them halfway.
func (v *Verifier) begin(t *evaluation, c *toolcall.Call) {
	t.call, t.started, t.settings = c, time.Now(), v.o.Settings()
	t.auditor, t.upstream = v.o.Auditor(), v.o.Upstream()
	s := &t.settings
	if s.Hold == 0 {
		s.Hold = defaultHold
	}
	if s.MaxHold == 0 {
		s.MaxHold = defaultMaxHold
	}
	if s.Keep == 0 {
		s.Keep = 10*time.Minute + s.MaxHold + time.Minute
	}
}

// Verify decides one call. It returns no error: every error is a deny.
func (v *Verifier) Verify(ctx context.Context, c *toolcall.Call) Decision {
	d, hold := v.VerifyOrHold(ctx, c)
	if hold != nil {
		return hold(ctx)
	}
	return d
}

// VerifyOrHold decides one call as far as nobody has to be waited for. Where
// people have to, hold is not nil: it waits for them and gives the decision. It
// must be called, once, from any goroutine; it needs little stack until then.
func (v *Verifier) VerifyOrHold(ctx context.Context, c *toolcall.Call) (d Decision, hold func(context.Context) Decision) {
	d, held := v.decide(ctx, c, (*policy.Policy).Plan)
	if held != nil {
		return Decision{}, held.wait
	}
	return d, nil
}

// decide is the decision, under a plan that one policy makes, even across a
// reload.
func (v *Verifier) decide(ctx context.Context, c *toolcall.Call, plan func(*policy.Policy, *toolcall.Call) policy.Plan) (d Decision, h *held) {
	var t evaluation // on the stack, and most calls need it nowhere else
	v.begin(&t, c)
	defer func() {
		if p := recover(); p != nil {
			d, h = v.panicked(ctx, &t, p), nil
		}
	}()
	t.planner = plan
	v.hide.keys(c)
	v.fresh.place(ctx, c)
	v.firsts.note(c)
	v.judging.runs.reached(c)

	v.judging.plan(&t)
	v.judging.limit(&t)
	if no := v.admitter.admit(ctx, &t); no != nil {
		return v.recorder.refuse(ctx, &t, no), nil
	}
	v.judging.runs.counted(c, c.Context.Iteration)
	t.last = v.quiet.actions.acts(&t)
	if t.view.Replayed && t.view.Entry == session.Passed {
		v.judging.plan(&t) // the request was counted when it came first: its own count is no limit to it
	}
	v.judging.judge(ctx, &t)
	if no := t.refused(); no != nil {
		return v.recorder.refuse(ctx, &t, no), nil
	}
	if t.view.Entry == session.Passed {
		return v.passed(ctx, &t), nil
	}
	kept := t // it may be held, and outlives the stack
	return v.seek(ctx, &kept)
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

// Reject denies a call that is authentic but can't be judged: malformed, or out
// of its time. c may hold whatever could be read of it.
func (v *Verifier) Reject(ctx context.Context, c *toolcall.Call, kind, reason string) Decision {
	var t evaluation
	v.begin(&t, c)
	v.hide.keys(c)
	return v.recorder.refuse(ctx, &t, deny(kind, reason))
}
