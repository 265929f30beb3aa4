package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// byAuditor says in the record that the auditor consented, or did not; byUnheard
// that it gave no answer.
const (
	byAuditor = "auditor"
	byUnheard = "auditor-silent"
)

// byReplay is what lets a call pass that was allowed before, by someone.
const byReplay = "replay"

// auditing asks the second model about calls, where the owner has set one up. It refuses to let a call pass that the policy does not, except
// where the owner lets it answer in a person's place.
type auditing struct {
	o         *Options
	hide      *hiding
	kin       *kin
	exposure  *exposure
	people    *people
	footnotes footnotes
}

// isWatched reports whether the auditor may have a say in what the policy lets
// pass. What is harmless, out of scope or only told of never waits for it.
func isWatched(t *evaluation) bool {
	return t.auditor != nil && t.auditor.Mode() != intent.Advise && t.plan.InScope() && !t.plan.Harmless()
}

// rowOf is the plan's row as the store gets it. Where the auditor may have a say,
// the store decides nothing: at the levels that a result which needs caution
// brings with it. A cleaner conversation passes in one trip, as without auditor.
func rowOf(t *evaluation) taint.Row {
	row := t.plan.Modes
	if !isWatched(t) {
		return row
	}
	for l := t.auditor.Caution().From(); l <= taint.Untrusted; l++ {
		if row[l] == taint.Allow {
			row[l] = taint.Confirm
		}
	}
	return row
}

// cautioned reports whether a result that needs caution came into the
// conversation before, and names the tools it came from. That sticks as the
// level does. Where this process has not seen all of the conversation, one may
// have come.
func (d *auditing) cautioned(t *evaluation) (sources []string, cautioned bool) {
	caution := t.auditor.Caution()
	if t.view.Level < caution.From() {
		return nil, false
	}
	sources, all := d.exposure.sources(t.conv, &t.view)
	if session.IsHook(t.call.Context.SessionKey) && caution.Hooks(t.call.Client) {
		sources = append(sources, "webhook")
	}
	return sources, len(sources) > 0 || !all
}

// caution notes that a result which needs caution is about to come in.
func (d *auditing) caution(t *evaluation) {
	if t.auditor != nil && t.plan.Raise > taint.System && t.auditor.Caution().On(t.call.Client, t.call.Tool, t.plan.Raise) {
		d.exposure.source(t.conv, t.call.Tool)
	}
	d.passOn(t)
}

// passOn lets what was read go along with what the call carries from one
// conversation to another.
func (d *auditing) passOn(t *evaluation) {
	r := &t.plan.Reach
	for _, key := range r.Sends {
		d.exposure.hand(t.conv, d.kin.roots.at(session.Conversation{Client: t.call.Client, Key: key}), !t.view.Lost)
	}
	for _, key := range r.Reads {
		d.exposure.hand(d.kin.roots.at(session.Conversation{Client: t.call.Client, Key: key}), t.conv, true)
	}
	if r.BlindSend {
		d.exposure.spread(t.conv, !t.view.Lost && t.view.Secret == "")
	}
	if r.BlindRead {
		d.exposure.blur(t.conv)
	}
}

// cautionResult notes the same of a result that has come in.
func (d *auditing) cautionResult(h *eventEvaluation) {
	if tool := h.event.Returned.Tool; h.auditor != nil && h.auditor.Caution().On(h.call.Client, tool, h.returned) {
		d.exposure.source(h.conv, tool)
	}
}

// audit lets the auditor look at a call that the policy lets pass. It returns
// nil if the call passes.
func (d *auditing) audit(ctx context.Context, t *evaluation) *denial {
	if !isWatched(t) || t.person {
		return nil
	}
	sources, cautioned := d.cautioned(t)
	if !cautioned {
		return nil
	}
	switch o := d.opinion(ctx, t, sources); {
	case o.Verdict == intent.Allow:
		return nil
	case o.Verdict == intent.NoAnswer && t.auditor.FailMode() == intent.FailAllow:
		return nil
	case o.Verdict == intent.NoAnswer && t.auditor.FailMode() == intent.FailWarn:
		d.o.Log.WarnContext(ctx, "a call passes that the auditor should have looked at", "request", d.hide.request(t.call), "why", o.Reason)
		return nil
	}
	return d.block(ctx, t)
}

// block refuses what the auditor did not let pass, and tells the owner, who may
// allow just this call, once.
func (d *auditing) block(ctx context.Context, t *evaluation) *denial {
	a := d.people.question(ctx, t)
	a.Rule, a.Blocked, a.Auditor, a.Lasting = byAuditor, d.action(t), opinionClause(t.opinion), false
	a.Unheard = t.opinion.Verdict == intent.NoAnswer
	ruling, err := d.people.put(ctx, t, a, 0)
	n := d.people.heard(ctx, t, ruling, err)
	if n == nil { // allowed once, before
		return nil
	}
	switch n.kind {
	case "unanswered", "nobody", "full", "exhausted":
		footnote, no := stopped(t.ref(), a)
		d.footnotes.add(t.conv, t.call.Context.RunID, footnote)
		return no
	}
	return n
}

// stopped is what the owner reads under the agent's answer of a call that the auditor did not let pass, and what the agent reads. It says that
// the call does not match only where the auditor has looked.
func stopped(ref string, a *approval.Ask) (footnote string, _ *denial) {
	blocked := "Caution: blocked an action (" + a.Blocked + ") "
	if a.Unheard {
		return blocked + "because the auditor gave no answer (ref " + ref + ")",
			deny(byUnheard, "This call needs a check first, and the check gave no answer, so it was blocked (ref "+ref+"). Try again later, or go on without it.")
	}
	return blocked + "that did not match your request (ref " + ref + ")",
		deny(byAuditor, "This does not match what the user asked for, and was blocked (ref "+ref+"). Go on without it.")
}

// action names a call in two words: "message send".
func (d *auditing) action(t *evaluation) string {
	const most = 24
	var params struct {
		Action string `json:"action"`
	}
	name := t.call.Tool
	if json.Unmarshal(d.hide.shown(t).Params, &params, jsontext.AllowDuplicateNames(true)) != nil {
		return name
	}
	plain := func(r rune) bool { return r == '_' || r == '-' || 'a' <= r && r <= 'z' }
	if a := params.Action; a != "" && len(a) <= most && strings.IndexFunc(a, func(r rune) bool { return !plain(r) }) < 0 {
		name += " " + a
	}
	return name
}

// advise asks for an opinion on a call that a person is to be asked about, and
// puts it on the card. It reports whether the auditor answers in the person's
// place: only where nothing but the conversation's level asks, only where it has
// seen all of the call, and never what is destructive or bears secrets, nor in a
// conversation that may have read secrets.
func (d *auditing) advise(ctx context.Context, t *evaluation, a *approval.Ask) (answered bool) {
	if t.auditor == nil || t.view.Waiting != "" || t.plan.Harmless() || !t.plan.InScope() {
		return false
	}
	sources, cautioned := d.cautioned(t)
	if !t.verdict.LevelAlone && !t.verdict.Secret && !cautioned {
		return false
	}
	o := d.opinion(ctx, t, sources)
	a.Auditor = opinionClause(t.opinion)
	return o.Verdict == intent.Allow && t.auditor.Mode() == intent.AutoApprove && t.verdict.LevelAlone &&
		!o.Partly && t.verdict.Grantable && t.view.Secrets == session.HoldsNone && d.hide.forAuditor(t).Hidden() == 0 &&
		a.Hidden == d.hide.card(t).Hidden() // the tool's name is not hidden either
}

// opinion asks the auditor about the call, once for each decision.
func (d *auditing) opinion(ctx context.Context, t *evaluation, sources []string) intent.Opinion {
	if t.opinion != nil {
		return *t.opinion
	}
	redactor := d.hide.redactor()
	q := intent.Question{Messages: t.call.OwnerMessages(), Sources: sources, Tool: t.call.Tool, Params: d.hide.forAuditor(t).Params}
	for i := range q.Messages {
		q.Messages[i], _ = redactor.Text(q.Messages[i])
	}
	redactor.Lines(&q.Tool)
	for i := range q.Sources {
		redactor.Lines(&q.Sources[i])
	}
	ctx, done := t.patience(ctx)
	defer done()
	o := t.auditor.Ask(ctx, q)
	redactor.Lines(&o.Reason)
	t.opinion = &o
	return o
}

// patience ends before the caller's does, whatever has been waited for by then.
func (t *evaluation) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	left := t.hold() + holdMargin
	if wait := t.call.Context.WaitMs; wait > 0 {
		left = min(left, time.Duration(wait)*time.Millisecond)
	}
	return context.WithDeadline(ctx, t.started.Add(max(left-time.Second, 500*time.Millisecond)))
}

// opinionClause is an opinion, for the card and the record.
func opinionClause(o *intent.Opinion) string {
	switch {
	case o.Verdict == intent.Allow && o.Partly:
		return "fits what you asked for, as far as it could be shown"
	case o.Verdict == intent.Allow:
		return "fits what you asked for"
	case o.Verdict == intent.Block && o.Reason == "":
		return "does not fit what you asked for"
	case o.Verdict == intent.Block:
		return "does not fit what you asked for: " + o.Reason
	}
	return "no answer: " + o.Reason
}
