package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// plan asks the policy in force about the call.
func (v *Verifier) plan(t *evaluation) {
	t.rules = v.o.Policy()
	t.plan = t.planner(t.rules, t.call)
	if t.plan.Leaves { // whether it holds a secret has to be known
		v.awaitRedactor(t.hold())
	}
	if t.plan.Source != "" {
		v.hideSource(t)
	}
	if t.bears = t.plan.Leaves && !bearsNothing(v.secrets(t)); t.bears {
		t.plan.Final = false
	}
	if t.plan.Quotes() { // what it quotes is kept, and shown on cards
		shown := v.shown(t)
		v.redactor().Lines(&t.plan.Secret, &t.plan.Gives)
		if shown.Hidden() > 0 {
			t.plan.Unquote(strings.ToLower(string(shown.Params)))
		}
	}
}

// judge says what the policy makes of the call in the conversation as it is.
func (v *Verifier) judge(ctx context.Context, t *evaluation) {
	t.view.Bears = t.bears
	if t.plan.Origins && (t.view.Entry == session.Held || t.view.Replayed) || t.plan.Leaves && (t.view.Secret != "" || t.view.Generation > 0) {
		v.origins(ctx, t)
	}
	t.view.Unread = t.unread
	v.workspaceSeen(ctx, t)
	t.verdict = t.plan.Judge(t.view)
}

// hideKeys gives a conversation whose name holds a secret another name, by which it
// is still known again.
func (v *Verifier) hideKeys(c *toolcall.Call) { c.Context.HideKeys(v.key) }

// key is the one spelling of a session's or an agent's name. Where the name as it
// was sent holds a secret, that could no longer be recognised in lower case: then it
// is a name that tells nothing, and whose conversation is untrusted.
func (v *Verifier) key(sent string) string {
	canonical := toolcall.CanonicalKey(sent)
	if canonical == sent {
		return canonical
	}
	v.awaitRedactor(redactorPatience)
	if shown, _ := v.o.Redactor().Text(sent); shown == sent {
		return canonical
	}
	return "hidden " + v.o.Key.Seal("hidden-key", canonical)[:16]
}

// awaitRedactor waits, right after the start, until it is known what a secret looks
// like: as long as a person would be waited for. If that is not enough, everything
// looks like one.
func (v *Verifier) awaitRedactor(hold time.Duration) {
	if r := v.o.Redactor(); !r.IsReady() {
		ctx, cancel := context.WithTimeout(context.Background(), max(hold, redactorPatience))
		defer cancel()
		_ = r.Wait(ctx)
	}
}

// replan judges the call again if the policy changed since it was planned: people
// may have taken minutes to answer. A restrict that is in force now overturns
// every yes, and what only the earlier policy allowed does not pass.
func (v *Verifier) replan(ctx context.Context, t *evaluation) *denial {
	if v.o.Policy() == t.rules {
		return nil
	}
	v.plan(t)
	v.judge(ctx, t)
	switch {
	case t.verdict.Mode == taint.Restrict:
		return t.restricted()
	case t.verdict.Mode == taint.Allow, t.person, t.grant != nil && t.verdict.Grantable:
		return nil
	}
	return deny("moved", reasonMoved)
}
