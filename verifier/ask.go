package verifier

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

// askPeople puts the call to people, and waits for what they say. It returns nil if they let it pass.
func (v *Verifier) askPeople(ctx context.Context, e *evaluation) *denial {
	hold := e.hold()
	if a := e.ask; e.opinion != nil {
		if a.Auditor = opinionClause(e.opinion); e.verdict.Mode == taint.Allow { // no call waits for the answer
			a.Unheard, hold = e.opinion.Verdict == auditor.NoAnswer, 0
		}
	}
	waited := time.Since(e.began)
	e.held = true
	ruling, err := v.o.Desk.Ask(ctx, &approval.Request{
		Ask: *e.ask, ID: e.call.RequestID, Hold: max(0, hold-waited), Waited: waited, Whole: e.call.Params,
		Edit: v.editor(e),
	})
	e.heard(ruling)
	switch {
	case errors.Is(err, approval.ErrNobody):
		v.o.Log.ErrorContext(ctx, "a call needs a person and none can be asked", "request", v.hide.request(e.call),
			"err", err)
		return e.blockedElse(deny("nobody", reasonNobody))
	case errors.Is(err, approval.ErrRecord):
		v.o.Log.ErrorContext(ctx, "a question could not be recorded", "request", v.hide.request(e.call), "err", err)
		return deny(faultRecord, reasonRecord)
	case errors.Is(err, approval.ErrStopped):
		return deny("stopping", reasonStopping)
	case ctx.Err() != nil:
		return deny(callerGone, e.waiting())
	case err != nil:
		return v.fault(ctx, "ask", err)
	case !ruling.Yes:
		if ruling.Denied && ruling.ByPerson && e.verdict.AtCap {
			v.runs.answered(e, false)
		}
		return e.blockedElse(e.ruledOut())
	case ruling.Edited != nil:
		return v.edit(e)
	}
	return nil
}

// heard keeps what people said, for the record and the answer.
func (e *evaluation) heard(r approval.Ruling) {
	if r.Waited == 0 {
		r.Waited = e.ruling.Waited
	}
	e.ruling = r
}

// question is what people are shown, and what their yes is bound to.
func (v *Verifier) question(e *evaluation) *approval.Ask {
	c, p, redactor, shown := e.call, &e.plan, v.o.Cards(), v.hide.card(e)
	a := &approval.Ask{
		Conversation: e.start.conversation, SessionKey: c.Context.SessionKey, SessionID: c.Context.SessionID,
		Window: e.start.window(c), Agent: c.Agent(), Directory: c.Context.Directory, Run: c.Context.RunID, Tool: c.Tool,
		Digest: e.sum(), Level: e.view.Level, Rule: e.verdict.Rule, Why: e.verdict.Sentences(), Started: e.start.Why,
		Senders: policy.Senders(&c.Context), Said: lastWords(redactor, c.OwnerMessages()), Shown: shown.Params,
		Hidden: shown.Hidden(), Bodies: shown.Bodies(), HeldOnly: shown.PreRedacted(), Tainted: e.verdict.Tainted,
		TargetParams: p.Goes(), Unsure: p.Unsure(), Unclear: p.Unclear(), Unseen: e.runsUnseen(),
		Holds: e.view.Secret != "",
	}
	if c.Sent != c.Tool {
		a.Sent = c.Sent
	}
	a.Direct = p.Owners(c) && !e.start.Spawned
	a.Owner = a.Direct && c.Context.SenderIsOwner
	if a.Shell = p.Line != nil; a.Shell {
		a.Network = p.Line.Network || !p.Plain
	}
	v.trace(e)
	a.Origins = originsOf(e.view.Origins)
	e.warn(a)
	if e.verdict.Mode == taint.Allow {
		a.Rule, a.Blocked = byAuditor, v.action(e)
	}
	hideAround(redactor, a)
	a.Lasting = a.Blocked == "" && e.verdict.Grantable && v.o.Visible(a) && a.Conversation.Lasting()
	if like := e.like(); a.Lasting && a.Hidden == 0 && !a.Holds {
		a.Same, a.Goes = like.String(), like.Where()
	}
	if a.Lasting && a.Agent != "" {
		if a.Always = "exact " + sumAnywhere(c); a.Same != "" {
			a.Always = "same " + e.like().In(c.Context.Directory)
		}
	}
	return a
}

// warn says what a person should notice first, and why they are asked. Of whom the user never mentioned, only what the
// card shows is named.
func (e *evaluation) warn(a *approval.Ask) {
	strangers := e.plan.Strangers(e.call, &e.view)
	for _, r := range e.plan.Risks(e.call, &e.view, len(strangers) > 0) {
		a.Risks = append(a.Risks, string(r))
		a.Marked = a.Marked || r.Marks()
	}
	unseen := func(s string) bool { return !strings.Contains(string(a.Shown), s) }
	a.Reasons = e.plan.Reasons(&e.verdict, &e.view, slices.DeleteFunc(strangers, unseen))
	switch h := &e.call.Hints; {
	case h.Destroys():
		a.Effect = approval.Destroys
	case h.ReadOnly != nil && *h.ReadOnly:
		a.Effect = approval.OnlyReads
	case h.Acts():
		a.Effect = approval.Changes
	}
}

// hideAround hides the secrets in the tool's name and in what is said about the call. Where it comes from stays as it
// is, for a pause and a grant are bound to it: [approval.Ask.Name] hides it where it is shown. A call whose tool can't
// be shown is not fully visible, and so gets no grant.
func hideAround(redactor *redact.Redactor, a *approval.Ask) {
	tool, sent := a.Tool, a.Sent
	texts := []*string{&a.Tool, &a.Sent, &a.Started, &a.Rule, &a.Directory}
	for i := range a.Why {
		texts = append(texts, &a.Why[i])
	}
	for i := range a.Reasons {
		texts = append(texts, &a.Reasons[i])
	}
	for i := range a.Origins {
		o := &a.Origins[i]
		texts = append(texts, &o.Argument, &o.Tool, &o.Place)
	}
	redactor.Lines(texts...)
	if a.Sent != sent { // the other name is the same in small letters
		a.Tool = a.Sent
	}
	if a.Tool != tool {
		a.Hidden, a.Sent = a.Hidden+1, ""
	}
}

// lastWords keeps what a card can show of the owner's own messages.
func lastWords(redactor *redact.Redactor, said []string) []string {
	const messages, characters = 3, 500
	said = said[max(0, len(said)-messages):]
	out := make([]string, 0, len(said))
	for _, s := range said {
		s, _ = redactor.Text(s)
		if r := []rune(s); len(r) > characters {
			s = string(r[:characters]) + "…"
		}
		out = append(out, s)
	}
	return out
}

// sum is what a question, a yes and a grant for exactly this call are bound to: the call's digest, and the directory in
// which it starts.
func (e *evaluation) sum() string {
	if e.texts.sum == "" {
		e.texts.sum = e.digest()
		if dir := e.call.Context.Directory; dir != "" {
			bound := sha256.Sum256([]byte("in a directory\n" + e.texts.sum + "\n" + dir))
			e.texts.sum = hex.EncodeToString(bound[:])
		}
	}
	return e.texts.sum
}

// digest is the call's digest, as the record has it.
func (e *evaluation) digest() string {
	if e.texts.digest == "" {
		e.texts.digest = e.call.Digest().String()
	}
	return e.texts.digest
}

// sumAnywhere is what tells the call from others in any conversation: its arguments, and the directory.
func sumAnywhere(c *protocol.Call) string {
	sum := sha256.New()
	for _, part := range []string{c.Tool, string(c.Params), c.Context.Directory} {
		fmt.Fprintf(sum, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// like is what calls like this one have in common; nothing where no label says which of its arguments say where it
// goes.
func (e *evaluation) like() *lineage.Alike {
	if e.texts.alike == nil {
		params, _ := e.call.Values() // none that can't be read: a call without them is like no other
		e.texts.alike = lineage.AlikeOf(params, e.plan.Destinations(), e.plan.Content())
	}
	return e.texts.alike
}

// hold is how long the caller can wait for a person.
func (e *evaluation) hold() time.Duration {
	wait, s := e.call.Context.WaitMs, e.settings
	if wait <= 0 {
		return min(s.Hold, s.MaxHold)
	}
	if wait > s.MaxHold.Milliseconds()+holdMargin.Milliseconds() {
		return s.MaxHold
	}
	return max(0, time.Duration(wait)*time.Millisecond-holdMargin)
}

// A person may allow a call with other arguments than were asked about. From then on the evaluation is about that call:
// it is planned and judged anew, and what is committed, recorded and answered is that one. It passes only by that
// person's yes, and never where the policy restricts it.

// wasEdited reports whether a person changed the call's arguments.
func (e *evaluation) wasEdited() bool { return e.asked != "" }

// editor judges a call that is held with other params, without any effect; nil where its runtime can't run them.
func (v *Verifier) editor(e *evaluation) approval.Editor {
	if !e.call.Context.Edits || e.wasEdited() || e.plan.Class() == "wrapper" {
		return nil
	}
	snapshot := *e // the evaluation itself goes on when people answer
	return func(_ context.Context, params jsontext.Value) (*approval.Ask, error) {
		once := snapshot
		once.become(params)
		v.plan(&once)
		once.plan.Initiator, once.plan.Birth = e.start.Initiator, e.start.birth
		once.view.Bears, once.view.Origins = once.texts.bears, nil
		v.trace(&once)
		once.verdict = once.plan.Judge(once.view)
		switch {
		case once.plan.Class() == "wrapper":
			return nil, &approval.Unfit{Text: "The changed call only names another one, which can't be judged by it."}
		case once.verdict.Mode == taint.Restrict:
			why := strings.Join(once.verdict.Sentences(), " ")
			return nil, &approval.Unfit{Text: "Your policy refuses the changed call. " + why}
		}
		return v.question(&once), nil
	}
}

// become makes the evaluation one of the call with other params. What was found out about the params before is
// forgotten.
func (e *evaluation) become(params jsontext.Value) {
	e.asked = e.digest()
	e.call, e.texts, e.opinion = e.call.With(params), texts{}, nil
}

// edit goes on with the call as a person changed it. It returns why that can't pass.
func (v *Verifier) edit(e *evaluation) *denial {
	if !e.call.Context.Edits || e.wasEdited() {
		return deny("edit", reasonFault)
	}
	e.become(e.ruling.Edited)
	if !e.isWhatTheySaw(&e.ruling) {
		return deny("edit", reasonFault)
	}
	v.plan(e)
	return nil
}

// isWhatTheySaw reports whether a yes is for the call as it was changed.
func (e *evaluation) isWhatTheySaw(r *approval.Ruling) bool {
	return subtle.ConstantTimeCompare([]byte(e.sum()), []byte(r.EditedDigest)) == 1
}
