package verifier

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// The auditor looks at calls in conversations into which a result came that needs caution. By its mode it advises the
// people who are asked, may stop what the policy lets pass, or may answer in their place.

// cautions are the tools whose results make the auditor look at the call. What is harmless, out of scope or only told
// of never waits for it.
func (j *judged) cautions() []string {
	a := j.terms.Auditor
	if a == nil || !j.plan.InScope() || j.plan.Harmless() || j.view.Level < a.Caution.From() {
		return nil
	}
	if policy.IsHook(j.call.Context.SessionKey) && a.Caution.Hooks(j.call.Client) {
		return append(slices.Clone(j.sources), "webhook")
	}
	return j.sources
}

// isAudited reports whether the policy lets the call pass, and the auditor has a say and has not let it pass.
func (j *judged) isAudited() bool {
	a, o := j.terms.Auditor, j.opinion
	if a == nil || a.Mode == auditor.Advise || len(j.cautions()) == 0 {
		return false
	}
	if o != nil && o.Verdict == auditor.NoAnswer {
		return a.FailMode != auditor.FailWarn && a.FailMode != auditor.FailAllow
	}
	return o == nil || o.Verdict != auditor.Allow
}

// wantsOpinion reports whether the auditor is to be asked: about what it may stop, and about what people are to be
// asked.
func (j *judged) wantsOpinion() bool {
	if j.terms.Auditor == nil || j.opinion != nil || j.plan.Harmless() || !j.plan.InScope() {
		return false
	}
	return j.verdict.LevelAlone || j.verdict.Secret || len(j.cautions()) > 0
}

// auditorAnswers reports whether the auditor answers in a person's place: only where nothing but the conversation's
// level asks, only where it has seen all of the call, and never what is destructive or bears secrets, nor in a
// conversation that has read secrets.
func (j *judged) auditorAnswers() bool {
	o, a := j.opinion, j.terms.Auditor
	if o == nil || a == nil || a.Mode != auditor.AutoApprove || o.Verdict != auditor.Allow || o.Partly ||
		j.asked != "" || !j.verdict.LevelAlone || !j.verdict.Grantable || j.view.Secret != "" || j.ask.Marked {
		return false
	}
	put, card := j.redacted(j.terms.Bodies), j.redacted(j.terms.Cards)
	return put.Hidden() == 0 && j.ask.Hidden == card.Hidden() // the tool's name is not hidden either
}

// audit asks the auditor about the call, once for each decision.
func (j *judged) audit(ctx context.Context) {
	redactor := j.terms.Redactor
	q := auditor.Question{
		Messages: j.call.OwnerMessages(), Sources: slices.Clone(j.cautions()), Tool: j.call.Tool,
		Params: j.redacted(j.terms.Bodies).Params,
	}
	redactor.Lines(&q.Tool)
	for _, texts := range [][]string{q.Messages, q.Sources} {
		for i := range texts {
			redactor.Lines(&texts[i])
		}
	}
	left := j.hold() + holdMargin // it ends before the caller's patience does, whatever has been waited for by then
	if wait := j.call.Context.WaitMs; wait > 0 {
		left = min(left, time.Duration(wait)*time.Millisecond)
	}
	ctx, done := context.WithDeadline(ctx, j.began.Add(max(left-time.Second, 500*time.Millisecond)))
	defer done()
	o := j.terms.Auditor.Ask(ctx, q)
	redactor.Lines(&o.Reason)
	j.opinion = &o
	if o.Verdict == auditor.NoAnswer && j.verdict.Mode == taint.Allow &&
		j.terms.Auditor.FailMode == auditor.FailWarn {
		j.v.o.Log.WarnContext(ctx, "a call passes that the auditor should have looked at",
			"request", j.terms.request(j.call), "why", o.Reason)
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
func (p *planned) action() string {
	for path, value := range p.call.Strings {
		if path == "action" && value != path && plainAction.MatchString(value) &&
			strings.Contains(string(p.shown().Params), `"`+value+`"`) {
			return p.call.Tool + " " + value
		}
	}
	return p.call.Tool
}

// opinionClause is an opinion, for the card and the record.
func opinionClause(o *auditor.Opinion) string {
	switch {
	case o.Verdict == auditor.Allow && o.Partly:
		return "fits what you asked for, as far as it could be shown"
	case o.Verdict == auditor.Allow:
		return "fits what you asked for"
	case o.Verdict == auditor.Block && o.Reason == "":
		return "does not fit what you asked for"
	case o.Verdict == auditor.Block:
		return "does not fit what you asked for: " + o.Reason
	}
	return "no answer: " + o.Reason
}
