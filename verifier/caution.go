package verifier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// The auditor looks at calls in conversations into which a result came that needs caution. By its mode it advises the
// people who are asked, may stop what the policy lets pass, or may answer in their place.

// cautions are the tools whose results make the auditor look at what follows in this conversation.
func (e *evaluation) cautions() []string {
	caution := e.auditor.Caution()
	if e.view.Level < caution.From() {
		return nil
	}
	if policy.IsHook(e.call.Context.SessionKey) && caution.Hooks(e.call.Client) {
		return append(slices.Clone(e.sources), "webhook")
	}
	return e.sources
}

// brings reports whether a result that needs caution is about to come in.
func (e *evaluation) brings(level taint.Level) bool {
	return e.auditor != nil && level > taint.System && e.auditor.Caution().On(e.call.Client, e.call.Tool, level)
}

// isAudited reports whether the policy lets the call pass, and the auditor has a say and has not let it pass. What is
// harmless, out of scope or only told of never waits for it.
func (e *evaluation) isAudited() bool {
	a := e.auditor
	if a == nil || a.Mode() == auditor.Advise || !e.plan.InScope() || e.plan.Harmless() || len(e.cautions()) == 0 {
		return false
	}
	switch {
	case e.opinion == nil, e.opinion.Verdict == auditor.Block:
		return true
	case e.opinion.Verdict == auditor.NoAnswer:
		return a.FailMode() == auditor.FailBlock
	}
	return false
}

// asksAuditor reports whether the auditor is to be asked now: about what it may stop, and about what people are to be
// asked for the first time.
func (v *Verifier) asksAuditor(e *evaluation) bool {
	if e.auditor == nil || e.opinion != nil || e.held || e.plan.Harmless() || !e.plan.InScope() {
		return false
	}
	return e.isAudited() || e.verdict.LevelAlone || e.verdict.Secret || len(e.cautions()) > 0
}

// auditorAnswers reports whether the auditor answers in a person's place: only where nothing but the conversation's
// level asks, only where it has seen all of the call, and never what is destructive or bears secrets, nor in a
// conversation that has read secrets.
func (v *Verifier) auditorAnswers(e *evaluation) bool {
	o := e.opinion
	return o != nil && !e.wasEdited() && o.Verdict == auditor.Allow && !o.Partly &&
		e.auditor.Mode() == auditor.AutoApprove && e.verdict.LevelAlone && e.verdict.Grantable &&
		e.view.Secret == "" && !e.ask.Marked && v.hide.forAuditor(e).Hidden() == 0 &&
		e.ask.Hidden == v.hide.card(e).Hidden() // the tool's name is not hidden either
}

// audit asks the auditor about the call, once for each decision.
func (v *Verifier) audit(ctx context.Context, e *evaluation) {
	redactor := v.hide.redactor()
	q := auditor.Question{
		Messages: e.call.OwnerMessages(), Sources: slices.Clone(e.cautions()), Tool: e.call.Tool,
		Params: v.hide.forAuditor(e).Params,
	}
	for i := range q.Messages {
		q.Messages[i], _ = redactor.Text(q.Messages[i])
	}
	redactor.Lines(&q.Tool)
	for i := range q.Sources {
		redactor.Lines(&q.Sources[i])
	}
	ctx, done := e.patience(ctx)
	defer done()
	o := e.auditor.Ask(ctx, q)
	redactor.Lines(&o.Reason)
	e.opinion = &o
	if o.Verdict == auditor.NoAnswer && e.verdict.Mode == taint.Allow && e.auditor.FailMode() == auditor.FailWarn {
		v.o.Log.WarnContext(ctx, "a call passes that the auditor should have looked at",
			"request", v.hide.request(e.call), "why", o.Reason)
	}
}

// patience ends before the caller's does, whatever has been waited for by then.
func (e *evaluation) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	left := e.hold() + holdMargin
	if wait := e.call.Context.WaitMs; wait > 0 {
		left = min(left, time.Duration(wait)*time.Millisecond)
	}
	return context.WithDeadline(ctx, e.began.Add(max(left-time.Second, 500*time.Millisecond)))
}

// blockedElse is why a call is denied that the auditor stopped and no person has allowed: with what the owner reads
// below the agent's answer, and what the agent reads. It says that the call doesn't match only where the auditor has
// looked.
func (e *evaluation) blockedElse(no *denial) *denial {
	if e.ask == nil || e.ask.Blocked == "" || !slices.Contains([]string{"unanswered", "nobody", "full", "exhausted"},
		no.kind) {
		return no
	}
	ref, blocked := e.ref(), "Caution: blocked an action ("+e.ask.Blocked+") "
	if e.ask.Unheard {
		no = deny("auditor-silent", "This call needs a check first, and the check gave no answer, so it was blocked "+
			"(ref "+
			ref+"). Try again later, or go on without it.")
		no.footer = blocked + "because the auditor gave no answer (ref " + ref + ")"
		return no
	}
	no = deny(byAuditor, "This does not match what the user asked for, and was blocked (ref "+
		""+ref+"). Go on without it.")
	no.footer = blocked + "that did not match your request (ref " + ref + ")"
	return no
}

// action names a call in two words: "message send".
func (v *Verifier) action(e *evaluation) string {
	const most = 24
	var params struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(v.hide.shown(e).Params, &params, jsontext.AllowDuplicateNames(true)) != nil {
		return e.call.Tool
	}
	plain := func(r rune) bool { return r == '_' || r == '-' || 'a' <= r && r <= 'z' }
	a := params.Action
	if a == "" || len(a) > most || strings.ContainsFunc(a, func(r rune) bool { return !plain(r) }) {
		return e.call.Tool
	}
	return e.call.Tool + " " + a
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
