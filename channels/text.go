package channels

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Limits of what surrounds a call on its card, in columns.
const (
	idLimit       = 600 // more than any identifier that is accepted
	sentenceLimit = 400
)

// inline is Safe for the fields around a call. What is cut there says so where
// it stands; it does not run.
func inline(s string, limit int) string {
	text, _ := Safe(s, Form{Limit: limit})
	return text
}

// Text is the card for a terminal: all of the question, and below it the lines
// that answer it. What stands behind a bar was written by the agent.
func Text(c *approval.Card, now time.Time) string {
	var p page
	if notice := c.Notice(); notice != "" {
		text, _ := Safe(notice, Form{Lines: true, Limit: mainLimit})
		p.rule("Notice")
		p.note(text)
		return p.b.String()
	}
	expired := !now.Before(c.Until())
	p.rule(title(c, expired))
	calls := make([]call, len(c.Questions))
	shared := sameContext(c.Questions)
	for i := range c.Questions {
		calls[i] = look(&c.Questions[i].Ask)
		p.question(c, i, &calls[i])
		if !shared {
			p.context(&c.Questions[i].Ask)
		}
	}
	if shared && len(c.Questions) > 0 {
		p.context(&c.Questions[0].Ask)
	}
	p.blank()
	p.field("time left", timeLeft(c.Until(), now))
	if !expired {
		p.answers(c, calls)
	}
	return p.b.String()
}

func title(c *approval.Card, expired bool) string {
	text := "Approval needed: " + c.Ref()
	if expired {
		text = "Expired: " + c.Ref()
	}
	if len(c.Questions) > 1 {
		text += fmt.Sprintf(", %d calls", len(c.Questions))
	}
	return text
}

// question is what will run.
func (p *page) question(c *approval.Card, i int, seen *call) {
	q := &c.Questions[i]
	label := "tool"
	if len(c.Questions) > 1 {
		if i > 0 {
			p.blank()
		}
		label = fmt.Sprintf("%d of %d", i+1, len(c.Questions))
	}
	p.field(label, toolText(&q.Ask, seen))
	p.arguments(seen)
	if !seen.seen.Full() {
		p.note(notAllVisible + strings.Join(seen.seen.Reasons(), "; ") + ".")
	}
	p.votes(q)
}

func toolText(a *approval.Ask, seen *call) string {
	text := seen.tool
	if a.Sent != "" && a.Sent != a.Tool {
		sent, _ := Name(a.Sent)
		text += " (sent as " + sent + ")"
	}
	if Lookalike(a.Tool) {
		text += "\n" + lookalikeWarning(a.Tool)
	}
	return text
}

func (p *page) arguments(seen *call) {
	for _, m := range seen.mains {
		p.line(indent + m.name)
		p.quote(m.text)
	}
	if len(seen.others) > 0 && len(seen.mains) > 0 {
		p.line(indent + "other arguments")
	} else if len(seen.others) > 0 {
		p.line(indent + "arguments")
	}
	for _, o := range seen.others {
		p.barred(bar, o.name+": "+o.text)
	}
	if seen.left > 0 {
		p.line(indent + open + "… " + count(seen.left, "argument", "arguments") + " not shown …" + shut)
	}
	if len(seen.mains)+len(seen.others) == 0 {
		p.line(indent + noArguments)
	}
}

func (p *page) votes(q *approval.Question) {
	if q.Ask.Approvals <= 1 && len(q.Votes) == 0 {
		return
	}
	var said []string
	for _, v := range q.Votes {
		verb := "denied"
		if v.Allow {
			verb = "approved " + v.Scope.String()
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", inline(v.Person, nameLimit), verb, inline(v.Via, nameLimit)))
	}
	text := fmt.Sprintf("%d of %d", len(q.Votes), max(q.Ask.Approvals, 1))
	if len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	p.field("approvals", text)
}

// sameContext reports whether all questions of a card come from the same place
// for the same reason, so that it need be said once only.
func sameContext(qs []approval.Question) bool {
	for i := range qs {
		if !reflect.DeepEqual(background(&qs[i].Ask), background(&qs[0].Ask)) {
			return false
		}
	}
	return true
}

// background is the part of an ask that is not the call.
func background(a *approval.Ask) approval.Ask {
	return approval.Ask{
		Conversation: a.Conversation, SessionKey: a.SessionKey, Agent: a.Agent, Level: a.Level, Why: a.Why,
		Started: a.Started, Said: a.Said,
	}
}

// context says where the call comes from and why it is asked.
func (p *page) context(a *approval.Ask) {
	p.blank()
	for i, why := range a.Why {
		label := "asked because"
		if i > 0 {
			label = ""
		}
		p.field(label, inline(why, sentenceLimit))
	}
	p.field("level", levelText(a.Level))
	p.field("agent", agentText(a))
	p.field("conversation", conversationText(a))
	p.field("started by", orUnknown(inline(a.Started, sentenceLimit)))
	p.blank()
	if len(a.Said) == 0 {
		p.note(nothingSaid)
		return
	}
	p.note("You asked: " + inline(a.Said[len(a.Said)-1], sentenceLimit))
	p.note(doesItMatch)
}

func orUnknown(s string) string {
	if s == "" {
		return "(not said)"
	}
	return s
}

func agentText(a *approval.Ask) string {
	text := orUnknown(inline(a.Agent, idLimit))
	if client := a.Conversation.Client; client != "" && client != "default" {
		text += " at " + inline(client, idLimit)
	}
	return text
}

// conversationText names the conversation and the ref that `.reset-trust` takes.
func conversationText(a *approval.Ask) string {
	key := noSessionKey
	if a.SessionKey != "" {
		key = inline(a.SessionKey, idLimit)
	}
	if root := a.Conversation.Key; root != a.SessionKey {
		key += "\nin " + inline(root, idLimit)
	}
	return key + "\nref " + a.Conversation.Ref()
}
