package verifier

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// The auditor looks at calls in conversations into which a result came that needs caution. By its mode it advises the
// people who are asked, may stop what the policy lets pass, or may answer in their place.

// cautions are the tools whose results make the auditor look at the call. What is harmless, out of scope or only told
// of never waits for it.
func (e *evaluation) cautions(t *store.Tx) []string {
	a := e.terms.Auditor
	if a == nil || !e.plan.InScope() || e.plan.Harmless() || e.view.Level < a.Caution.From(t.DeclaresAny()) {
		return nil
	}
	if policy.IsHook(e.call.Context.SessionKey) && a.Caution.On("hooks", t.Declares("hooks"), taint.Untrusted) {
		return append(slices.Clone(t.C.Caution), "webhook")
	}
	return t.C.Caution
}

// isAudited reports whether the policy lets the call pass, and the auditor has a say and has not let it pass.
func (e *evaluation) isAudited() bool {
	a, o := e.terms.Auditor, e.opinion
	if a == nil || a.Mode == auditor.Advise || len(e.sources) == 0 {
		return false
	}
	if o != nil && o.Verdict == auditor.NoAnswer {
		return a.FailMode != auditor.FailWarn && a.FailMode != auditor.FailAllow
	}
	return o == nil || o.Verdict != auditor.Allow
}

// wantsOpinion reports whether the auditor is to be asked: about what it may stop, and about what people are to be
// asked.
func (e *evaluation) wantsOpinion() bool {
	if e.terms.Auditor == nil || e.opinion != nil || e.plan.Harmless() || !e.plan.InScope() {
		return false
	}
	return e.verdict.LevelAlone || e.verdict.Secret || len(e.sources) > 0
}

// auditorAnswers reports whether the auditor answers in a person's place: only where nothing but the conversation's
// level asks, only where it has seen all of the call, and never what is destructive or bears secrets, nor in a
// conversation that has read secrets.
func (e *evaluation) auditorAnswers() bool {
	o, a := e.opinion, e.terms.Auditor
	if o == nil || a == nil || a.Mode != auditor.AutoApprove || o.Verdict != auditor.Allow || o.Partly ||
		e.asked != "" || !e.verdict.LevelAlone || !e.verdict.Grantable || e.view.Secret != "" || e.ask.Marked {
		return false
	}
	put, card := e.redacted(e.terms.Bodies), e.redacted(e.terms.Cards)
	return put.Hidden() == 0 && e.ask.Hidden == card.Hidden() // the tool's name is not hidden either
}

// audit asks the auditor about the call, once for each decision.
func (e *evaluation) audit(ctx context.Context) {
	redactor := e.terms.Redactor
	q := auditor.Question{
		Messages: e.call.OwnerMessages(), Sources: slices.Clone(e.sources), Tool: e.call.Tool,
		Params: e.redacted(e.terms.Bodies).Params,
	}
	redactor.Lines(append(each(q.Messages, q.Sources), &q.Tool)...)
	// it ends before the caller's patience does, whatever has been waited for by then
	ctx, done := context.WithDeadline(ctx, e.began.Add(max(e.patience()-time.Second, 500*time.Millisecond)))
	defer done()
	o := e.terms.Auditor.Ask(ctx, q)
	redactor.Lines(&o.Reason)
	e.opinion = &o
	if o.Verdict == auditor.NoAnswer && e.verdict.Mode == taint.Allow &&
		e.terms.Auditor.FailMode == auditor.FailWarn {
		e.v.o.Log.WarnContext(ctx, "a call passes that the auditor should have looked at",
			"request", e.terms.request(e.call), "why", o.Reason)
	}
}

// unheard is why a call is denied that no person has allowed. Where the auditor stopped it and no person was reached,
// it tells that to the agent, and to the owner below the agent's answer. It says that the call doesn't match the
// request only where the auditor has looked.
func (e *evaluation) unheard(no *denial) *denial {
	if e.ask.Blocked == "" || !slices.Contains([]string{"unanswered", "nobody", "full", "exhausted"}, no.kind) {
		return no
	}
	ref, footer := "(ref "+e.ref()+")", "Caution: blocked an action ("+e.ask.Blocked+") "
	if e.opinion != nil && e.opinion.Verdict == auditor.NoAnswer {
		return &denial{"auditor-silent", "This call needs a check first, and the check gave no answer, so it was " +
			"blocked " + ref + ". Try again later, or go on without it.",
			footer + "because the auditor gave no answer " + ref}
	}
	return &denial{byAuditor, "This does not match what the user asked for, and was blocked " + ref +
		". Go on without it.", footer + "that did not match your request " + ref}
}

// plainAction is a word that can stand in a sentence.
var plainAction = regexp.MustCompile(`^[a-z_-]{1,24}$`)

// action names a call in two words: "message send".
func (e *evaluation) action() string {
	var shown struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(e.shown().Params, &shown) == nil && plainAction.MatchString(shown.Action) {
		return e.call.Tool + " " + shown.Action
	}
	return e.call.Tool
}

// opinionClause is an opinion, for the card and the record.
func opinionClause(o *auditor.Opinion) string {
	says := [...]string{"no answer", "fits what you asked for", "does not fit what you asked for"}[o.Verdict]
	if o.Partly && o.Verdict == auditor.Allow {
		says += ", as far as it could be shown"
	}
	if o.Reason != "" {
		says += ": " + o.Reason
	}
	return says
}
