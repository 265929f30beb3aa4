package verifier

import (
	"cmp"
	"context"
	"errors"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// admitter lets calls enter their conversations: it finds whose state counts, what the start of the run brings in, and asks the store.
// It refuses to guess: what the store does not say is an error, and the caller denies.
type admitter struct {
	o          *Options
	kin        *kin
	jobs       *jobs
	exposure   *exposure
	influences reportedInfluences
	floor      *session.Floor
}

// admit lets the call enter its conversation: one trip to the store, and one
// more for a run whose starter is unknown or a session seen for the first time as a
// child.
func (ad *admitter) admit(ctx context.Context, t *evaluation) *denial {
	if err := ad.enter(ctx, t); err != nil {
		return ad.o.storeFault(ctx, "admit", err)
	}
	return nil
}

func (ad *admitter) enter(ctx context.Context, t *evaluation) error {
	if s := &t.plan.Initiator; s.Spawned || s.System || s.Unknown && session.JobOf(t.call.Context.SessionKey) != "" { // several trips share one budget
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ad.o.StoreWait)
		defer cancel()
	}
	initial, err := ad.arrive(ctx, t)
	if err != nil {
		return err
	}
	t.initial = initial
	ad.kin.besideParent(ctx, t)
	own := t.conv
	for range maxLine {
		a := ad.admission(t)
		view, err := ad.admitUnderPauses(ctx, t, &a)
		if err == nil && view.Entry == session.Held && a.Digest == "" {
			view, err = ad.admitAgain(ctx, t, &a, view)
		}
		if err != nil {
			return err
		}
		if view.Entry == session.Moved {
			ad.kin.roots.note(own, view.Root)
			t.move(view.Root)
			ad.kin.besideParent(ctx, t)
			continue
		}
		if a.Note && view.Entry == session.Passed {
			ad.influences.tell(t, view.Generation)
		}
		ad.secretsOf(t, &view)
		t.see(view)
		if view.Entry == session.Passed {
			t.brings = taint.Worse(t.brings, t.plan.Raise)
		}
		ad.saw(t)
		return nil
	}
	return errMoved
}

// arrive finds the conversation, and what the start of the run brings into it.
func (ad *admitter) arrive(ctx context.Context, t *evaluation) (taint.Level, error) {
	c := t.call
	t.in(session.Conversation{Client: c.Client, Key: c.Context.SessionKey})
	if t.session = c.Context.SessionID; t.plan.Initiator.Resumed {
		t.session = "" // what was resumed may be in a context with another id: the worst of all counts
	}
	initial := t.plan.Initiator.Level
	before, err := ad.kin.resolve(ctx, t)
	if err != nil {
		return taint.Untrusted, err
	}
	if c.Context.SecretsRead {
		if err := ad.o.Store.Expose(ctx, t.conv, returnedSecret); err != nil {
			return taint.Untrusted, err
		}
	}
	if s := &t.plan.Initiator; s.System || s.Unknown {
		if initial, err = ad.jobs.scheduled(ctx, t); err != nil {
			return taint.Untrusted, err
		}
	}
	return taint.Worse(initial, before), nil
}

// orphan reports whether a subagent runs whose parent is not known, neither from the
// call nor from an event before. What the parent has read may be in its task.
func (t *evaluation) orphan() bool {
	s, key := &t.plan.Initiator, t.call.Context.SessionKey
	return (s.Orphan || s.Unknown && session.IsSubagent(key)) && t.conv.Key == key
}

// parentsSecrets is what such a subagent counts as having read.
const parentsSecrets = "what the session that started it may have read"

// errMoved says that a chain of spawned sessions did not end.
const maxLine = 32 // of parents

var errMoved = errors.New("verifier: the conversation's root was not found")

// secretsOf says what the conversation has read.
func (ad *admitter) secretsOf(t *evaluation, view *session.View) {
	if view.Version > 0 {
		if view.Secrets = ad.exposure.saw(t, view); view.Secret != "" {
			view.Secrets = session.Holds
		}
	}
	if view.Secret == "" && t.orphan() {
		view.Secret, view.Secrets = parentsSecrets, session.Holds
	}
}

// admitUnderPauses admits a call under the pauses that stand in the store. Nearly
// always that is what this process knows, and one trip.
func (ad *admitter) admitUnderPauses(ctx context.Context, t *evaluation, a *session.Admission) (view session.View, err error) {
	for range settleTries {
		a.Pauses = ad.pauses(t)
		t.pauses = a.Pauses
		view, err = ad.o.Store.Admit(ctx, *a)
		if err != nil || view.Entry != session.PauseChanged {
			return view, err
		}
		if err := ad.o.Pauses.Changed(ctx, a.Pauses, view.Paused); err != nil {
			return view, err
		}
	}
	return view, nil
}

// pauses is what binds the call. What is harmless passes all the same.
func (ad *admitter) pauses(t *evaluation) session.PauseView {
	b := ad.o.Pauses.View(t.call.Agent())
	b.On = b.On && !t.plan.Harmless()
	return b
}

// admitAgain finds what could let a held call pass, where the first trip did
// not expect that anything would have to.
func (ad *admitter) admitAgain(ctx context.Context, t *evaluation, a *session.Admission, first session.View) (session.View, error) {
	t.seekConsent(a)
	second, err := ad.admitUnderPauses(ctx, t, a)
	if err != nil {
		return first, err
	}
	// It was held a moment ago, so this trip can't be what decided it.
	decided := second.Entry == session.Passed || second.Entry == session.Refused
	second.Replayed, second.Lost = first.Replayed || decided, first.Lost || second.Lost
	second.Capped = first.Capped || second.Capped
	return second, nil
}

// grantedNow looks again at what is granted, where something was and the
// conversation has moved since: that may be what has changed.
func (ad *admitter) grantedNow(ctx context.Context, t *evaluation) *denial {
	if len(t.view.Grants) == 0 {
		return nil
	}
	a := ad.admission(t)
	if a.Digest == "" {
		t.seekConsent(&a)
	}
	ctx, cancel := context.WithTimeout(ctx, ad.o.budget(t))
	defer cancel()
	view, err := ad.admitUnderPauses(ctx, t, &a)
	if err != nil {
		return ad.o.storeFault(ctx, "admit", err)
	}
	t.view.Grants = nil
	if view.Entry == session.Held {
		t.view.Grants = view.Grants
	}
	return nil
}

// seekConsent asks for the grants and the open question that the call could
// have.
func (t *evaluation) seekConsent(a *session.Admission) {
	a.Digest = t.sum()
	for _, g := range t.grants() {
		a.Grants = append(a.Grants, g.Field())
	}
}

func (ad *admitter) admission(t *evaluation) session.Admission {
	c, p, initial := t.call, &t.plan, t.initial
	floor := ad.floor.At(t.convID, t.session)
	a := session.Admission{
		Conversation: t.conv, ID: t.convID, Session: t.session, RequestID: c.RequestID, Body: c.Body,
		Initial: initial, Sender: p.Initiator.Why, Birth: taint.Worse(initial, p.Birth), Floor: floor,
		Modes: rowOf(t), Raise: p.Raise, Final: p.Final && (!p.Leaves || !t.orphan()), Leaves: p.Leaves, Source: p.Source,
		Run: c.Context.RunID, RunCap: p.RunCap,
		Decision: passedMark, Keep: t.settings.Keep,
	}
	a.Note = ad.influences.untold(t, floor.Generation)
	if expected := a.Modes[taint.Worse(initial, floor.Level)]; expected != taint.Allow || !a.Final {
		t.seekConsent(&a)
	}
	return a
}

// reach carries the level over to other conversations that the call touches,
// before it is allowed, and gives what the call brings in.
func (ad *admitter) reach(ctx context.Context, t *evaluation) (taint.Level, error) {
	raise, r := t.plan.Raise, t.plan.Reach
	for _, key := range r.Reads {
		source := session.Conversation{Client: t.call.Client, Key: key}
		level, err := ad.o.Store.Worst(ctx, source)
		if err != nil {
			return taint.Untrusted, err
		}
		raise = taint.Worse(raise, level)
		secret, err := ad.o.Store.Exposed(ctx, source)
		if err != nil {
			return taint.Untrusted, err
		}
		t.plan.Secret = cmp.Or(t.plan.Secret, secret)
	}
	for _, key := range r.Sends {
		target := session.Conversation{Client: t.call.Client, Key: key}
		if err := ad.o.Store.Raise(ctx, target, t.view.Level, "a message from another session"); err != nil {
			return taint.Untrusted, err
		}
		if err := ad.o.Store.Expose(ctx, target, t.view.Secret); err != nil {
			return taint.Untrusted, err
		}
	}
	if r.Schedules {
		if err := ad.jobs.schedule(ctx, t); err != nil {
			return taint.Untrusted, err
		}
	}
	return raise, nil
}

// saw keeps what this process has seen of the conversation. A call without a session id
// sees the worst of all of them; what it brings in itself counts for all.
func (ad *admitter) saw(t *evaluation) {
	m := session.Mark{Level: taint.Worse(t.view.Level, t.view.After), Generation: t.view.Generation}
	if t.session == "" {
		ad.floor.RaiseAll(t.convID, m)
		m.Level = taint.Worse(t.initial, t.brings)
		if t.view.Step <= 1 {
			m.Level = taint.Worse(m.Level, t.plan.Birth)
		}
		if t.view.Lost {
			m.Level = taint.Untrusted
		}
	}
	ad.floor.Raise(t.convID, t.session, m)
}
