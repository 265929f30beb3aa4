package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	settleTries = 3
	claimTries  = 25 // more than the calls on one card
)

// settle commits the consent. It reports again when the conversation moved
// since it was judged.
func (v *Verifier) settle(ctx context.Context, t *evaluation) (again bool, _ *denial) {
	for t.claims < claimTries {
		t.claims++
		if v.overtaken(ctx, t) {
			return true, nil
		}
		s, no := v.commit(ctx, t)
		if no != nil {
			return false, no
		}
		switch s.State {
		case session.Done:
			t.view.Level, t.view.After, t.closed = taint.Worse(s.View.Level, t.initial), taint.Worse(s.View.After, t.initial), true
			v.admitter.saw(t)
			if t.claim != nil {
				v.o.Desk.MarkUsed(t.claim.Card, t.asksAbout(), t.call.RequestID)
			}
			return false, nil
		case session.Decided:
			return false, v.decided(t, s.View)
		case session.PausedMeanwhile:
			if err := v.o.Pauses.Changed(ctx, t.pauses, s.View.Paused); err != nil {
				return false, v.o.storeFault(ctx, "pause", err)
			}
			continue
		case session.Stale:
			if s.View.Lost {
				return false, deny("lost", reasonStore)
			}
			t.refresh(s.View)
			return true, v.admitter.grantedNow(ctx, t)
		}
		// Another call took its yes from the same card at this moment; the card
		// says what is left.
		if t.wasEdited() {
			break
		}
		t.person, t.claim = false, nil
		if no := v.people.ask(ctx, t, v.people.question(ctx, t)); no != nil {
			return false, no
		}
	}
	return false, deny("moved", reasonMoved)
}

// commit is one trip: all that the allow changes, or nothing.
func (v *Verifier) commit(ctx context.Context, t *evaluation) (session.Settled, *denial) {
	if t.pauses = v.admitter.pauses(t); t.pauses.On {
		return session.Settled{}, t.paused()
	}
	if no := v.judging.replan(ctx, t); no != nil {
		return session.Settled{}, no
	}
	ctx, cancel := context.WithTimeout(ctx, v.o.budget(t))
	defer cancel()
	if no := v.writes(ctx, t); no != nil {
		return session.Settled{}, no
	}
	raise, err := v.admitter.reach(ctx, t)
	if err != nil {
		return session.Settled{}, v.o.storeFault(ctx, "reach", err)
	}
	t.brings = taint.Worse(t.brings, raise)
	s, err := v.o.Store.Settle(ctx, session.Settlement{
		Conversation: t.conv, Session: t.session, RequestID: t.call.RequestID, Body: t.call.Body,
		Version: t.view.Version, Raise: raise, Source: t.plan.Source, Secret: t.plan.Secret,
		Decision: markOf(v.o.Key, t), Claim: t.claim, Pauses: t.pauses, Keep: t.settings.Keep,
	})
	if err != nil {
		return session.Settled{}, v.o.storeFault(ctx, "settle", err)
	}
	return s, nil
}

// overtaken reports whether something was written unseen since the call was judged. A write notes it before it is allowed, and this
// looks right before the call is.
func (v *Verifier) overtaken(ctx context.Context, t *evaluation) bool {
	return t.view.Workspace == session.AllSeen && v.workspace.unseen(ctx, t)
}

// writes notes, before the call is allowed, what it writes into the workspace.
func (v *Verifier) writes(ctx context.Context, t *evaluation) *denial {
	if t.plan.Writes == policy.WritesNothing {
		return nil
	}
	return v.workspace.wrote(ctx, t)
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
	if standing := now.PriorDecision; isMarkOf(v.o.Key, t, standing) || standing == passedMark && v.recentAllows.has(t.request()) {
		return nil
	}
	return deny("decided", t.waiting())
}

// passed releases what the store has allowed, now or when the same request came
// before. An allow by a person carries a seal that only we can have made. One by
// the level alone can't: the store is handed its mark before it decides. It
// counts if this process remembers it, or if the policy would still allow it; and
// what is allowed for the first time, the policy must allow. A restrict that is in
// force now beats every allow of before.
func (v *Verifier) passed(ctx context.Context, t *evaluation) Decision {
	if isEdited(t.view.PriorDecision) {
		if no := v.editedBefore(ctx, t); no != nil {
			return v.recorder.refuse(ctx, t, no)
		}
	}
	if t.verdict.Mode == taint.Restrict {
		return v.recorder.refuse(ctx, t, t.restricted())
	}
	t.by = t.verdict.Rule
	if t.verdict.Mode != taint.Allow {
		t.by = byReplay // the rule alone would not have allowed it: the entry of the first says what did
	}
	switch {
	case !t.view.Replayed && t.verdict.Mode == taint.Allow:
		v.recentAllows.note(t.request())
	case isMarkOf(v.o.Key, t, t.view.PriorDecision):
	case !t.wasEdited() && (v.recentAllows.has(t.request()) || t.verdict.Mode == taint.Allow):
	default:
		v.o.Log.WarnContext(ctx, "a standing allow is not remembered here and would not be given now", "request", v.hide.request(t.call))
		return v.recorder.refuse(ctx, t, deny("repeated", reasonRepeated))
	}
	if !isMarkOf(v.o.Key, t, t.view.PriorDecision) { // that was noted when it was settled
		if no := v.writes(ctx, t); no != nil {
			return v.recorder.refuse(ctx, t, no)
		}
	}
	return v.release(ctx, t)
}

// editedBefore goes on with a request that comes again after a person allowed it with changed params. Where this process does not have them, it is denied.
func (v *Verifier) editedBefore(ctx context.Context, t *evaluation) *denial {
	params := v.edits.of(t)
	if params == nil {
		return deny("repeated", reasonRepeated)
	}
	t.become(params)
	v.judging.again(ctx, t)
	return nil
}
