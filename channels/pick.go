package channels

import (
	"crypto/sha256"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

const (
	choices   = 4
	maxChoice = 160 // characters; what is longer is cut, not left out
)

// Choices are what a call does and other things that calls of its kind do, in an order that follows from the seed. There are none where
// the agent has written so many of the wrong answers into the call that a pick among the rest would prove nothing.
func Choices(a *approval.Ask, seed []byte) approval.Choices {
	by := &dice{seed: sha256.Sum256(seed)}
	does := meaning(a)
	all := append([]string{does.text}, does.others(by)...)
	out := approval.Choices{Question: does.question}
	if len(all) < choices {
		return out
	}
	for at, i := range by.order(len(all)) {
		out.Offered = append(out.Offered, all[i])
		if i == 0 {
			out.Right = at
		}
	}
	return out
}

// Picking is the careful question as a chat shows it, below the card or the details whose button was tapped: what the call does is
// among other things, and each has a letter.
func Picking(c *approval.Card, p *approval.Pick, now time.Time) *Document {
	a := &c.Questions[p.At].Ask
	h := Head(a)
	d := &Document{Ref: c.Ref(), Sign: "🔎", Title: "Look once more: " + h.Says, Of: h.Of, Then: h.Then, Full: true}
	if p.Missed {
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Label: pickMissed})
	}
	question := p.Question
	if n := len(c.Questions); n > 1 {
		question = "Call " + callNumber(p.At, n) + ". " + question
	}
	d.Blocks = append(d.Blocks, Block{Kind: Note, Label: question, Gap: true})
	for i, offer := range p.Offers {
		letter := string(rune('A' + i))
		d.Blocks = append(d.Blocks, Block{Kind: Field, Label: letter, Text: offer.Text})
		d.Buttons = append(d.Buttons, Button{Action: approval.PickOne, Label: letter, Handle: offer.Handle})
	}
	d.Blocks = append(d.Blocks, Block{Kind: Note, Label: pickGives, Text: inline(p.Gives, normal.main), Gap: true}, Block{Kind: Note, Label: pickWhy},
		Block{Kind: Field, Part: OfTime, Label: "ref", Text: c.Ref() + ", " + timeLeft(c.Until(), now)})
	d.Buttons = append(d.Buttons, button(c, approval.DenyCall, denyLabel(c)))
	return d
}
