package verifier

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
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
	hold := e.hold()
	if a := e.ask; e.opinion != nil {
		if a.Auditor = opinionClause(e.opinion); e.verdict.Mode == taint.Allow { // no call waits for the answer
			a.Unheard, hold = e.opinion.Verdict == auditor.NoAnswer, 0
		}
	}
	waited := time.Since(e.began)
	ruling, err := e.v.o.Desk.Ask(ctx, &approval.Request{
		Ask: *e.ask, ID: e.call.RequestID, Hold: max(0, hold-waited), Whole: e.call.Params,
		Edit: e.editor(),
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

// hold is how long the caller can wait for a person.
func (p *planned) hold() time.Duration {
	hold := p.terms.Hold
	if wait := p.call.Context.WaitMs; wait > 0 {
		hold = max(0, time.Duration(wait)*time.Millisecond-holdMargin)
	}
	return min(hold, p.terms.MaxHold)
}

// question is what people are shown, and what their yes is bound to.
func (j *judged) question() *approval.Ask {
	c, p, redactor, shown := j.call, &j.plan, j.terms.Cards, j.redacted(j.terms.Cards)
	a := &approval.Ask{
		Conversation: j.start.conversation, SessionKey: c.Context.SessionKey, SessionID: c.Context.SessionID,
		Window: j.start.window(c), Agent: c.Agent(), Directory: c.Context.Directory, Run: c.Context.RunID, Tool: c.Tool,
		Digest: sum(c), Level: j.view.Level, Rule: j.verdict.Rule, Why: j.verdict.Sentences(), Started: j.start.Why,
		Senders: policy.Senders(&c.Context), Said: lastWords(redactor, c.OwnerMessages()), Shown: shown.Params,
		Hidden: shown.Hidden(), Bodies: shown.Bodies(), HeldOnly: shown.PreRedacted(), Tainted: j.verdict.Tainted,
		TargetParams: p.Goes(), Unsure: p.Unsure(), Unclear: p.Unclear(), Holds: j.view.Secret != "",
		Shell: p.Line != nil, Network: p.Line != nil && (p.Line.Network || !p.Plain),
		Unseen: p.Line != nil && p.Line.Effect != command.Look && !j.view.Seen,
		Direct: j.start.Owns(c) && !j.start.Spawned, Origins: originsOf(j.view.Origins),
	}
	a.Owner = a.Direct && c.Context.SenderIsOwner
	if c.Sent != c.Tool {
		a.Sent = c.Sent
	}
	j.warn(a)
	if j.verdict.Mode == taint.Allow {
		a.Rule, a.Blocked = byAuditor, j.action()
	}
	hideAround(redactor, a)
	a.Lasting = a.Blocked == "" && j.verdict.Grantable && j.v.o.Visible(a) && a.Conversation.Lasting()
	if !a.Lasting {
		return a
	}
	params, _ := c.Values() // none that can't be read: a call without them is like no other
	like := lineage.AlikeOf(params, p.Goes(), p.Content())
	if a.Hidden == 0 && !a.Holds {
		a.Same, a.Goes = like.String(), like.Where()
	}
	anywhere := protocol.Context{Directory: c.Context.Directory}
	if a.Same == "" {
		a.Always = "exact " + sum(&protocol.Call{Tool: c.Tool, Params: c.Params, Context: anywhere})
	} else if in := like.In(anywhere.Directory); in != "" { // else it is like no other there
		a.Always = "same " + in
	}
	return a
}

// warn says what a person should notice first, and why they are asked. Of whom the user never mentioned, only what the
// card shows is named.
func (j *judged) warn(a *approval.Ask) {
	strangers := j.plan.Strangers(j.call, &j.view)
	for _, r := range j.plan.Risks(&j.view, len(strangers) > 0) {
		a.Risks = append(a.Risks, string(r))
		a.Marked = a.Marked || r.Marks()
	}
	unseen := func(s string) bool { return !strings.Contains(string(a.Shown), s) }
	a.Reasons = j.plan.Reasons(&j.verdict, &j.view, slices.DeleteFunc(strangers, unseen))
	switch h := &j.call.Hints; {
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
	out := make([]string, len(said))
	for i, s := range said {
		s, _ = redactor.Text(s)
		out[i] = clip(s, characters)
	}
	return out
}

// sum is what a question, a yes and a grant for exactly this call are bound to: the call's digest, and the directory in
// which it starts.
func sum(c *protocol.Call) string {
	digest := c.Digest()
	if c.Context.Directory == "" {
		return digest
	}
	bound := sha256.Sum256([]byte("in a directory\n" + digest + "\n" + c.Context.Directory))
	return hex.EncodeToString(bound[:])
}

// A person may allow a call with other arguments than were asked about. From then on the evaluation is about that call:
// it is planned and judged anew, and what is committed, recorded and answered is that one. It passes only by that
// person's yes, and never where the policy restricts it.

// become makes it a call with other params. What the auditor thought of those before is forgotten.
func (p *planned) become(params jsontext.Value) {
	p.call, p.opinion = p.call.With(params), nil
	p.makePlan()
}

// editor judges a call that is held with other params, without any effect; nil where its runtime can't run them.
func (j *judged) editor() approval.Editor {
	if !j.call.Context.Edits || j.asked != "" || j.plan.Class() == "wrapper" {
		return nil
	}
	asked, at := *j.planned, *j // the evaluation goes on when people answer
	return func(_ context.Context, params jsontext.Value) (*approval.Ask, error) {
		changed, j := asked, at
		j.planned = &changed
		j.terms = j.v.o.Terms() // people may have taken minutes
		j.become(params)
		j.plan.Initiator, j.plan.Birth = j.start.Initiator, j.start.birth
		j.view.Bears, j.view.Origins = j.bears, nil
		j.trace()
		j.verdict = j.plan.Judge(j.view)
		switch {
		case j.plan.Class() == "wrapper":
			return nil, &approval.Unfit{Text: "The changed call only names another one, which can't be judged by it."}
		case j.verdict.Mode == taint.Restrict:
			why := strings.Join(j.verdict.Sentences(), " ")
			return nil, &approval.Unfit{Text: "Your policy refuses the changed call. " + why}
		}
		return j.question(), nil
	}
}

// edit goes on with the call as a person changed it. It returns why that can't pass.
func (e *evaluation) edit() *denial {
	e.asked = e.call.Digest()
	e.become(e.ruling.Edited)
	if subtle.ConstantTimeCompare([]byte(sum(e.call)), []byte(e.ruling.EditedDigest)) != 1 { // not what they saw
		return deny("edit", reasonFault)
	}
	return nil
}
