package approval

import (
	"context"

	"github.com/openclaw-verifier/verifier/session"
)

// Always is the standing consent that a person gives together with a yes to the call on a card.
type Always struct {
	Days int  // how long it holds
	Here bool // only in the conversation of the call; otherwise in every one of its agent
}

// Said where no standing consent can be given.
const (
	neverAlways = "Such a call can't be allowed for days: each one is asked about. Nothing was approved."
	notGiven    = "No standing consent was given."
	onlyOnPage  = "A standing consent is given on your page, where you see what it would cover. Nothing was approved."
)

// Offer is the standing consent that someone may give on a card: for every conversation of the agent, and without its end. It is false where
// there can be none.
func (cn *Consents) Offer(id string, c *Card) (session.Grant, bool) {
	person, listed := cn.terms().people[id]
	if !listed {
		return session.Grant{}, false
	}
	on := alwaysOn{cn, person, c}
	return on.grant()
}

// alwaysOn is a card on which a person may give a standing consent.
type alwaysOn struct {
	consents *Consents
	person   string
	card     *Card
}

// grant is that consent.
func (o *alwaysOn) grant() (session.Grant, bool) {
	if len(o.card.Questions) != 1 || o.consents.terms().Approvals > 1 || !o.consents.o.inFull(o.card) {
		return session.Grant{}, false
	}
	a := &o.card.Questions[0].Ask
	if a.Always == "" || a.Blocked != "" || a.Marked() || !o.consents.terms().covers(o.person, *a) {
		return session.Grant{}, false
	}
	return session.Grant{
		Conversation: session.Conversation{Client: a.Conversation.Client}, Tool: a.Tool, Agent: a.Agent, Like: session.StandingLike(a.Always), Level: a.Level, ID: o.card.ID,
	}, true
}

// barred says why it can't be given; an outcome without a text says that it can, or that the button gives none.
func (o *alwaysOn) barred(ctx context.Context, action Action, w *Always) (Outcome, error) {
	if action != AllowAlways {
		return Outcome{}, nil
	}
	if w == nil {
		return Outcome{Kind: Misunderstood, Card: o.card, Text: onlyOnPage}, nil
	}
	if _, can := o.grant(); !can || w.Days < 1 || w.Days > MaxConsentDays {
		return Outcome{Kind: Misunderstood, Card: o.card, Text: neverAlways}, nil
	}
	why, err := o.consents.Refused(ctx, o.card)
	switch {
	case err != nil:
		return Outcome{Text: "The store can't be reached, so no standing consent can be given. Nothing was approved."}, err
	case why != "":
		return Outcome{Kind: Misunderstood, Card: o.card, Text: why + " Nothing was approved."}, nil
	}
	return Outcome{}, nil
}

// give gives it, if the call itself was allowed.
func (o *alwaysOn) give(ctx context.Context, a Answer, allowed Outcome) (Outcome, error) {
	if allowed.Kind != Counted || allowed.State != Allowed {
		return allowed, nil
	}
	g, can := o.grant()
	if !can { // the config has changed at this moment
		allowed.Text += " " + notGiven
		return allowed, nil
	}
	if a.Always.Here {
		g.Conversation = o.card.Questions[0].Ask.Conversation
	}
	given, err := o.consents.give(ctx, a, o.person, g, a.Always.Days)
	allowed.Text += " " + given.Text
	return allowed, err
}
