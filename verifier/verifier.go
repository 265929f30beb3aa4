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
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/turns"
)

// Verifier decides calls. It is safe for concurrent use.
type Verifier struct {
	o                  Options
	floor              session.Floor
	roots              roots
	recentAllows       recentAllows
	exposure           exposure
	turns              *turns.Keeper
	runs               runs
	footnotes          footnotes
	reportedInfluences reportedInfluences
	results            resultLevels
	otherwise          otherwise
	runtimes           runtimes
	limiter            limiter
	fresh              fresh
	spawners           spawners
	firsts             firsts
	actions            actions
	sites              sites
	repeats            repeats
	ownCalls           ownCalls
	edits              edits

	ending   chan struct{} // a place for each call that was held and is being denied
	bulkDeny bulkDeny
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
	// redactorPatience is how long a question waits, right after the start,
	// until it is known what to hide in it.
	redactorPatience = 2 * time.Second
	recordPatience   = 300 * time.Millisecond
	settleTries      = 3
	claimTries       = 25 // more than the calls on one card
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
	v := &Verifier{o: o, ending: make(chan struct{}, endAtOnce)}
	v.turns = turns.New(turns.Options{
		Store: o.Store, Wait: o.StoreWait, Keep: func() time.Duration { return o.Settings().Provenance.Keep },
		Record: o.Record.Append, Hide: v.hideFact, Key: o.Key, Log: o.Log,
	})
	return v, nil
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

// named is the request's id for the log: whoever chose it may have put anything
// there.
func (v *Verifier) named(c *toolcall.Call) string {
	id, _ := v.o.Redactor().Text(c.RequestID)
	return id
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
	v.hideKeys(c)
	v.place(ctx, c)
	v.runs.reached(c)
	v.noteFirst(c)
	v.plan(&t)
	v.limit(&t)
	v.runs.limit(&t)
	began := v.clock()
	err := v.admit(ctx, &t)
	if t.took("store admit", began, err != nil); err != nil {
		return v.refuse(ctx, &t, v.storeFault(ctx, "admit", err)), nil
	}
	v.runs.counted(c, c.Context.Iteration)
	t.last = v.actions.acts(&t)
	if t.view.Replayed && t.view.Entry == session.Passed {
		v.plan(&t) // the request was counted when it came first: its own count is no limit to it
	}
	v.judge(ctx, &t)
	switch t.view.Entry {
	case session.Conflict:
		return v.refuse(ctx, &t, deny("conflict", reasonConflict)), nil
	case session.Braked:
		return v.refuse(ctx, &t, deny("moved", reasonMoved)), nil
	}
	if t.brake.On {
		return v.refuse(ctx, &t, t.paused()), nil
	}
	switch t.view.Entry {
	case session.Refused:
		return v.refuse(ctx, &t, t.refused()), nil
	case session.Passed:
		return v.passed(ctx, &t), nil
	}
	return v.seek(ctx, t.kept())
}

// seek decides a call that the level alone does not: it needs a consent, and may be
// held for one.
func (v *Verifier) seek(ctx context.Context, t *evaluation) (d Decision, h *held) {
	defer func() {
		if p := recover(); p != nil {
			d, h = v.panicked(ctx, t, p), nil
		}
	}()
	return v.conclude(ctx, t, v.consent(ctx, t))
}

// passed releases what the store has allowed, now or when the same request came
// before. An allow by a person carries a seal that only we can have made. One by
// the level alone can't: the store is handed its mark before it decides. It
// stands if this process remembers it, or if the policy would still allow it; and
// what is allowed for the first time, the policy must allow. A restrict that is in
// force now beats every allow of before.
func (v *Verifier) passed(ctx context.Context, t *evaluation) Decision {
	if isEdited(t.view.Standing) {
		if no := v.editedBefore(ctx, t); no != nil {
			return v.refuse(ctx, t, no)
		}
	}
	if t.verdict.Mode == taint.Restrict {
		return v.refuse(ctx, t, t.restricted())
	}
	t.by = t.verdict.Rule
	if t.verdict.Mode != taint.Allow {
		t.by = byReplay // the rule alone would not have allowed it: the entry of the first says what did
	}
	switch {
	case !t.view.Replayed && t.verdict.Mode == taint.Allow:
		v.recentAllows.note(t.request())
	case v.sealed(t, t.view.Standing):
	case !t.wasEdited() && (v.recentAllows.has(t.request()) || t.verdict.Mode == taint.Allow):
	default:
		v.o.Log.WarnContext(ctx, "a standing allow is not remembered here and would not be given now", "request", v.named(t.call))
		return v.refuse(ctx, t, deny("repeated", reasonRepeated))
	}
	if !v.sealed(t, t.view.Standing) { // that was noted when it was settled
		if no := v.wrote(ctx, t); no != nil {
			return v.refuse(ctx, t, no)
		}
	}
	return v.release(ctx, t)
}

// settle commits the consent. It reports again when the conversation moved
// since it was judged.
func (v *Verifier) settle(ctx context.Context, t *evaluation) (again bool, _ *denial) {
	for t.claims < claimTries {
		t.claims++
		if v.overtaken(ctx, t) {
			return true, nil
		}
		began := v.clock()
		s, no := v.commit(ctx, t)
		if t.took("store settle", began, no != nil); no != nil {
			return false, no
		}
		switch s.State {
		case session.Done:
			t.view.Level, t.view.After, t.closed = taint.Worse(s.View.Level, t.initial), taint.Worse(s.View.After, t.initial), true
			v.saw(t)
			if t.claim != nil {
				v.o.Desk.Spent(t.claim.Card, t.asksAbout(), t.call.RequestID)
			}
			return false, nil
		case session.Decided:
			return false, v.decided(t, s.View)
		case session.Halted:
			if err := v.o.Desk.Braked(ctx, t.brake, s.View.Paused); err != nil {
				return false, v.storeFault(ctx, "pause", err)
			}
			continue
		case session.Stale:
			if s.View.Lost {
				return false, deny("lost", reasonStore)
			}
			t.refresh(s.View)
			return true, v.grantedNow(ctx, t)
		}
		// Another call took its yes from the same card at this moment; the card
		// says what is left.
		if t.wasEdited() {
			break
		}
		t.person, t.claim = false, nil
		if no := v.askPeople(ctx, t, v.question(ctx, t)); no != nil {
			return false, no
		}
	}
	return false, deny("moved", reasonMoved)
}

// commit is one trip: all that the allow changes, or nothing.
func (v *Verifier) commit(ctx context.Context, t *evaluation) (session.Settled, *denial) {
	if t.brake = v.brake(t); t.brake.On {
		return session.Settled{}, t.paused()
	}
	if no := v.replan(ctx, t); no != nil {
		return session.Settled{}, no
	}
	ctx, cancel := context.WithTimeout(ctx, v.budget(t))
	defer cancel()
	if no := v.wrote(ctx, t); no != nil {
		return session.Settled{}, no
	}
	raise, err := v.reach(ctx, t)
	if err != nil {
		return session.Settled{}, v.storeFault(ctx, "reach", err)
	}
	t.brings = taint.Worse(t.brings, raise)
	s, err := v.o.Store.Settle(ctx, session.Settlement{
		Conversation: t.conv, Session: t.session, RequestID: t.call.RequestID, Body: t.call.Body,
		Version: t.view.Version, Raise: raise, Source: t.plan.Source, Secret: t.plan.Secret,
		Standing: v.standing(t), Claim: t.claim, Brake: t.brake, Keep: t.settings.Keep,
	})
	if err != nil {
		return session.Settled{}, v.storeFault(ctx, "settle", err)
	}
	return s, nil
}

// decided keeps to the decision that the same request was given meanwhile, unless
// the policy restricts the call in the conversation as it is now.
func (v *Verifier) decided(t *evaluation, now session.View) *denial {
	t.replay = true
	view := t.view
	view.Level = taint.Worse(now.Level, t.initial)
	if verdict := t.plan.Judge(view); verdict.Mode == taint.Restrict {
		t.verdict = verdict
		return t.restricted()
	}
	if standing := now.Standing; v.sealed(t, standing) || standing == passedMark && v.recentAllows.has(t.request()) {
		return nil
	}
	return deny("decided", t.waiting())
}

// deny settles a call that was held as denied, so that the same request gets
// the same answer, and refuses it. A store that has just failed is not asked
// again: the caller waits. On a connection that is gone nobody hears an answer:
// the request stays open for whoever sent it again.
func (v *Verifier) deny(ctx context.Context, t *evaluation, n *denial) Decision {
	if n.kind != faultStore && n.kind != callerGone {
		v.keepDenied([]*ending{{ctx: ctx, t: t, no: n}})
	}
	return v.refuse(ctx, t, n)
}

// standing is the mark of an allow that only this server can have made.
func (v *Verifier) standing(t *evaluation) string {
	if t.wasEdited() {
		return v.editedMark(t)
	}
	return "A" + v.o.Key.Seal("allow", t.sealedParts()...)
}

func (v *Verifier) sealed(t *evaluation, mark string) bool {
	if t.wasEdited() {
		return v.isEditedMark(t, mark)
	}
	return len(mark) > 1 && mark[0] == 'A' && v.o.Key.Check(mark[1:], "allow", t.sealedParts()...)
}

// saw keeps what this process has seen of the conversation. A call without a session id
// sees the worst of all of them; what it brings in itself counts for all.
func (v *Verifier) saw(t *evaluation) {
	m := session.Mark{Level: taint.Worse(t.view.Level, t.view.After), Generation: t.view.Generation}
	if t.session == "" {
		v.floor.RaiseAll(t.convID, m)
		m.Level = taint.Worse(t.initial, t.brings)
		if t.view.Step <= 1 {
			m.Level = taint.Worse(m.Level, t.plan.Birth)
		}
		if t.view.Lost {
			m.Level = taint.Untrusted
		}
	}
	v.floor.Raise(t.convID, t.session, m)
}
