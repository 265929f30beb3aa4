package verifier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/turns"
)

// people are asked where nothing else lets a call pass: what they read, what their answer means, and which of their earlier answers
// covers the call. It refuses to show them a secret, and to take a yes for anything but what they saw.
type people struct {
	o       *Options
	hide    *hiding
	judging *judging
	texts   *texts
	results *resultLevels
	over    func(turns.Key) bool // whether a turn is over
}

// ask puts the call to people, and waits for what they say.
func (p *people) ask(ctx context.Context, t *evaluation, a *approval.Ask) *denial {
	ruling, err := p.put(ctx, t, a, t.hold())
	return p.heard(ctx, t, ruling, err)
}

// put puts a call to people who may take so long to answer. What others have
// taken of that time before is gone.
func (p *people) put(ctx context.Context, t *evaluation, a *approval.Ask, hold time.Duration) (approval.Ruling, error) {
	t.held, t.visible = true, p.o.Visible(a)
	p.results.note(t, true)
	waited := time.Since(t.started)
	return p.o.Desk.Ask(ctx, &approval.Request{
		Ask: *a, ID: t.call.RequestID, Waiting: t.view.Waiting, Hold: max(0, hold-waited), Waited: waited, Now: t.now(), Whole: t.call.Params, Edit: p.editor(t),
	})
}

// heard takes in what people said, or why they did not. It returns nil if they
// let the call pass.
func (p *people) heard(ctx context.Context, t *evaluation, ruling approval.Ruling, err error) *denial {
	t.asked(ruling)
	switch {
	case errors.Is(err, approval.ErrNobody):
		p.o.Log.ErrorContext(ctx, "a call needs a person and none can be asked", "request", p.hide.request(t.call), "err", err)
		return deny("nobody", reasonNobody)
	case errors.Is(err, approval.ErrRecord):
		p.o.Log.ErrorContext(ctx, "a question could not be recorded", "request", p.hide.request(t.call), "err", err)
		return deny(faultRecord, reasonRecord)
	case errors.Is(err, approval.ErrStopped):
		return deny("stopping", reasonStopping)
	case ctx.Err() != nil:
		return deny(callerGone, t.waiting())
	case err != nil:
		return p.o.storeFault(ctx, "ask", err)
	case ruling.Denied:
		if ruling.ByPerson {
			p.results.deny(t)
			p.judging.runs.answered(t, false)
		}
		return deny("denied", deniedBy(t.ref(), &ruling))
	case ruling.Paused:
		return t.paused()
	case ruling.Exhausted:
		return deny("exhausted", reasonTooMany)
	case ruling.Full:
		return deny("full", reasonFull)
	case ruling.Late:
		return deny("taken", reasonTaken)
	case ruling.Silent:
		return deny("unanswered", "The owner did not answer in time (ref "+t.ref()+"). Ask again after the user's next message, or in ten minutes.")
	case !ruling.Yes:
		return deny("unanswered", t.waiting())
	}
	if g := ruling.Grant; g != nil {
		if !g.Covers(t.view.Level, t.now()) || g.Run != "" && g.Run != t.call.Context.RunID {
			return deny("unanswered", t.waiting())
		}
		t.by, t.grant = grantedBy(g), g
		return nil
	}
	if no := p.heardEdit(ctx, t, &ruling); no != nil {
		return no
	}
	t.by, t.person, t.claim = "person", true, ruling.Claim
	t.visible = t.visible && ruling.Alone || ruling.Seen // several calls may have to share the room of a card
	return nil
}

// question is what people are shown, and what their yes is bound to.
func (p *people) question(ctx context.Context, t *evaluation) *approval.Ask {
	c, redactor := t.call, p.o.Cards()
	ctx, cancel := context.WithTimeout(ctx, redactorPatience)
	defer cancel()
	if err := redactor.Wait(ctx); err != nil { // it hides everything then
		p.o.Log.WarnContext(ctx, "a question is put before it is known what to hide in it", "request", p.hide.request(c), "err", err)
	}
	shown := p.hide.card(t)
	a := &approval.Ask{
		Conversation: t.conv, SessionKey: c.Context.SessionKey, SessionID: c.Context.SessionID, Window: t.window(),
		Agent: c.Agent(), Directory: c.Context.Directory, Run: c.Context.RunID, Tool: c.Tool, Digest: t.sum(), Call: t.callDigest(),
		Level: t.view.Level, Rule: t.verdict.Rule, Why: t.verdict.Sentences(), Started: t.plan.Initiator.Why, Senders: session.Senders(&c.Context),
		Said: lastWords(redactor, c.OwnerMessages()), Shown: shown.Params, Hidden: shown.Hidden(), Bodies: shown.Bodies(), HeldOnly: shown.PreRedacted(),
	}
	a.Tainted, a.TargetParams, a.Unsure = t.verdict.Tainted, t.plan.Goes(), t.plan.Unsure()
	if c.Sent != c.Tool {
		a.Sent = c.Sent
	}
	p.texts.origins(ctx, t)
	a.Origins = originsOf(t)
	warn(t, a)
	hideAround(redactor, a)
	a.Lasting = t.verdict.Grantable && p.o.Visible(a) && t.conv.Lasting() && c.Context.SessionKey != ""
	if a.Lasting && a.Hidden == 0 && t.view.Secrets != session.Holds { // the third part of the trifecta
		a.Like, a.Targets = t.like().String(), t.like().Where()
	}
	a.Shell = t.plan.Line != nil
	a.Every = a.Shell && a.Lasting && t.everyCommand()
	a.Always, a.Spelled = alwaysOf(t, a), lineage.Spelled(c.Tool, c.Params, t.plan.Content())
	return a
}

// warn says what a person should notice first, and why they are asked. Of whom the user never mentioned, only what the card shows is named.
func warn(t *evaluation, a *approval.Ask) {
	strangers := t.plan.Strangers(t.call, &t.view)
	risks := t.plan.Risks(t.call, &t.view, len(strangers) > 0)
	for _, r := range risks {
		a.Risks = append(a.Risks, string(r))
	}
	a.Unclear = t.plan.Unclear()
	unseen := func(s string) bool { return !strings.Contains(string(a.Shown), s) }
	a.Reasons = t.plan.Reasons(&t.verdict, &t.view, slices.DeleteFunc(strangers, unseen))
	switch h := &t.call.Hints; {
	case h.Destroys():
		a.Effect = approval.Destroys
	case h.ReadOnly != nil && *h.ReadOnly:
		a.Effect = approval.OnlyReads
	case h.Acts():
		a.Effect = approval.Changes
	}
}

// hideAround hides the secrets in the tool's name and in what is said about the
// call. Where it comes from stays as it is, for a pause and a grant are bound to
// it: [approval.Ask.Name] hides it where it is shown. A call whose tool can't be shown is not
// fully visible, and so gets no grant.
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
	if len(said) > messages {
		said = said[len(said)-messages:]
	}
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

// granted finds a lasting grant that covers the call. Grants never cover what
// may not have one, whatever the store holds, and end with their giver's right
// to approve.
func (p *people) granted(t *evaluation, a *approval.Ask) *session.Grant {
	if !a.Lasting {
		return nil
	}
	for _, value := range t.view.Grants {
		for _, g := range t.grants() {
			if g.Run != "" && p.over(turns.KeyOf(t.call)) || g.Like != "" && g.Like == t.like().String() && a.Like == "" {
				continue
			}
			if g.Open(p.o.Key, value) == nil && g.Covers(t.view.Level, t.now()) && p.o.Grants.Covers(g.Givers(), *a) {
				return &g
			}
		}
	}
	return nil
}

// hold is how long the caller can wait for a person.
func (t *evaluation) hold() time.Duration {
	wait, s := t.call.Context.WaitMs, t.settings
	if wait <= 0 {
		return min(s.Hold, s.MaxHold)
	}
	if wait > s.MaxHold.Milliseconds()+holdMargin.Milliseconds() {
		return s.MaxHold
	}
	return max(0, time.Duration(wait)*time.Millisecond-holdMargin)
}
