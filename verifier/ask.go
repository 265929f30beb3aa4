package verifier

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

// askPeople puts the call to people, and waits for what they say. It returns nil if they let it pass.
func (e *evaluation) askPeople(ctx context.Context) *denial {
	hold := e.patience() - holdMargin - time.Since(e.began)
	if a := e.ask; e.opinion != nil {
		if a.Auditor = opinionClause(e.opinion); e.verdict.Mode == taint.Allow { // no call waits for the answer
			a.Unheard, hold = e.opinion.Verdict == auditor.NoAnswer, 0
		}
	}
	ruling, err := e.v.o.Desk.Ask(ctx, &approval.Request{
		Ask: *e.ask, ID: e.call.RequestID, Hold: max(0, hold), Whole: e.call.Params, Edit: e.editor(),
	})
	e.held, e.ruling = true, ruling
	switch {
	case err != nil:
		return e.unheard(e.v.fault(ctx, "ask", err))
	case !ruling.Yes:
		if ruling.Denied && ruling.ByPerson && e.verdict.AtCap {
			e.v.runs.of(e.call, stop)
		}
		return e.unheard(e.ruledOut())
	case ruling.Edited != nil:
		return e.edit()
	}
	return nil
}

// patience is how long the caller waits for the answer.
func (e *evaluation) patience() time.Duration {
	wait := time.Duration(e.call.Context.WaitMs) * time.Millisecond
	return min(cmp.Or(wait, e.terms.Hold+holdMargin), e.terms.MaxHold+holdMargin)
}

// question is what people are shown, and what their yes is bound to.
func (e *evaluation) question() *approval.Ask {
	c, p, redactor, shown := e.call, &e.plan, e.terms.Cards, e.redacted(e.terms.Cards)
	a := &approval.Ask{
		Conversation: e.start.conversation, SessionKey: c.Context.SessionKey, SessionID: c.Context.SessionID,
		Window: e.start.window, Agent: c.Agent(), Directory: c.Context.Directory, Run: c.Context.RunID, Tool: c.Tool,
		Digest: c.Digest(), Level: e.view.Level, Rule: e.verdict.Rule, Why: e.verdict.Sentences(), Started: e.start.Why,
		Senders: policy.Senders(&c.Context), Said: lastWords(redactor, c.OwnerMessages()), Shown: shown.Params,
		Hidden: shown.Hidden(), Bodies: shown.Bodies(), HeldOnly: shown.PreRedacted(), Tainted: e.verdict.Tainted,
		TargetParams: p.Goes(), Unsure: p.Unsure(), Unclear: p.Unclear(), Holds: e.view.Secret != "",
		Shell: p.Line != nil, Network: p.Line != nil && (p.Line.Network || !p.Plain),
		Unseen: p.Line != nil && p.Line.Effect != command.Look && !e.view.Seen,
		Direct: e.start.Owns(c) && !e.start.Spawned, Origins: originsOf(e.view.Origins),
	}
	a.Owner = a.Direct && c.Context.SenderIsOwner
	if c.Sent != c.Tool {
		a.Sent = c.Sent
	}
	e.warn(a)
	if e.verdict.Mode == taint.Allow {
		a.Rule, a.Blocked = byAuditor, e.action()
	}
	hideAround(redactor, a)
	a.Lasting = a.Blocked == "" && e.verdict.Grantable && e.v.o.Visible(a) && a.Conversation.Lasting()
	if !a.Lasting {
		return a
	}
	directory := c.Context.Directory // as it was sent
	params, _ := c.Values()          // none that can't be read: a call without them is like no other
	like := lineage.AlikeOf(params, p.Goes(), p.Content())
	if a.Hidden == 0 && !a.Holds {
		a.Same, a.Goes = like.String(), like.Where()
	}
	if a.Same == "" {
		anywhere := protocol.Call{Tool: c.Tool, Params: c.Params, Context: protocol.Context{Directory: directory}}
		a.Always = "exact " + anywhere.Digest()
	} else if in := like.In(directory); in != "" { // else it is like no other there
		a.Always = "same " + in
	}
	return a
}

// warn says what a person should notice first, and why they are asked. Of whom the user never mentioned, only what the
// card shows is named.
func (e *evaluation) warn(a *approval.Ask) {
	strangers := e.plan.Strangers(e.call, &e.view)
	for _, r := range e.plan.Risks(&e.view, len(strangers) > 0) {
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
	texts := append(each(a.Why, a.Reasons), &a.Tool, &a.Sent, &a.Started, &a.Rule, &a.Directory)
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

// each points to every text of some lists.
func each(lists ...[]string) (out []*string) {
	for _, list := range lists {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// lastWords keeps what a card can show of the owner's own messages.
func lastWords(redactor *redact.Redactor, said []string) []string {
	const messages, characters = 3, 500
	said = said[max(0, len(said)-messages):]
	out := make([]string, len(said))
	for i, s := range said {
		s, _ = redactor.Text(s)
		out[i] = clip(s, characters)
	}
	return out
}

// A person may allow a call with other arguments than were asked about. From then on the evaluation is about that call:
// it is planned and judged anew, and what is committed, recorded and answered is that one. It passes only by that
// person's yes, and never where the policy restricts it.

// become makes it a call with other params. What the auditor thought of those before is forgotten.
func (e *evaluation) become(params jsontext.Value) {
	e.call, e.opinion = e.call.With(params), nil
	e.makePlan()
}

// editor judges a call that is held with other params, without any effect; nil where its runtime can't run them.
func (e *evaluation) editor() approval.Editor {
	if !e.call.Context.Edits || e.asked != "" || e.plan.Class() == "wrapper" {
		return nil
	}
	held := *e // the evaluation goes on when people answer
	return func(_ context.Context, params jsontext.Value) (*approval.Ask, error) {
		e := held
		e.terms = e.v.o.Terms() // people may have taken minutes
		e.become(params)
		e.plan.Initiator, e.plan.Birth = e.start.Initiator, e.start.birth
		e.view.Bears, e.view.Origins = e.bears, nil
		e.trace(nil)
		e.verdict = e.plan.Judge(e.view)
		switch {
		case e.plan.Class() == "wrapper":
			return nil, &approval.Unfit{Text: "The changed call only names another one, which can't be judged by it."}
		case e.verdict.Mode == taint.Restrict:
			why := strings.Join(e.verdict.Sentences(), " ")
			return nil, &approval.Unfit{Text: "Your policy refuses the changed call. " + why}
		}
		return e.question(), nil
	}
}

// edit goes on with the call as a person changed it. It returns why that can't pass.
func (e *evaluation) edit() *denial {
	e.asked = e.call.Digest()
	e.become(e.ruling.Edited)
	if e.call.Digest() != e.ruling.EditedDigest { // it is not what they saw
		return deny("edit", reasonFault)
	}
	return nil
}
