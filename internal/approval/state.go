package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is what became of a card. The zero State is open.
type State uint8

// The states of a card.
const (
	Open State = iota
	Allowed
	Denied
	Expired
)

// String names the state in words that fit "The question is …".
func (s State) String() string {
	return [...]string{"open", "approved", "denied", "expired"}[min(s, Expired)]
}

// at is the card's state at a time.
func (c *Card) at(now time.Time) State {
	if c.State == Open && !now.Before(c.Ask.Until) {
		return Expired
	}
	return c.State
}

// vote adds a person's answer and settles the card where that is enough: any no, or a yes of as many different people
// as it takes. It reports false when the card is settled or the person has said so already.
func (c *Card) vote(v Vote, t *terms) bool {
	if slices.ContainsFunc(c.Votes, func(old Vote) bool { return old.Person == v.Person && old.Allow == v.Allow }) {
		return false
	}
	c.Votes = append(c.Votes, v)
	switch {
	case !v.Allow:
		c.settle(Denied, v.At.Add(noHolds))
	case c.agreed(t):
		c.settle(Allowed, v.At.Add(t.TTL))
	}
	return true
}

// agreed reports whether as many different people said yes as it takes, of those who still may.
func (c *Card) agreed(t *terms) bool {
	people := make(map[string]bool)
	for i := range c.Votes {
		if v := &c.Votes[i]; v.Allow && !t.lapsed(v) && c.Ask.admits(v.Person) {
			people[v.Person] = true
		}
	}
	return len(people) >= max(c.Ask.Approvals, 1)
}

// settle ends the card. An identical call finds the answer until then.
func (c *Card) settle(s State, until time.Time) {
	c.State, c.kept.Closed, c.kept.Until = s, true, until
}

// withdraw ends the card without a person's answer: the same call may ask again at once.
func (c *Card) withdraw(why string, now time.Time) {
	c.Votes = append(c.Votes, Vote{Via: "verifier", Reason: why, At: now})
	c.settle(Denied, now)
}

// Denial is the first no; nil if there is none. The agent reads its reason: neither a code nor a secret is in it, not
// even if the owner typed it, see [answering.count].
func (c *Card) Denial() *Vote {
	if at := slices.IndexFunc(c.Votes, func(v Vote) bool { return !v.Allow }); at >= 0 {
		return &c.Votes[at]
	}
	return nil
}

// last is the last vote.
func (c *Card) last() (v Vote) {
	if n := len(c.Votes); n > 0 {
		v = c.Votes[n-1]
	}
	return v
}

// scope is what an allowed card grants: the narrowest that was given.
func (c *Card) scope() Scope {
	if len(c.Votes) == 0 {
		return Scope{}
	}
	s := c.Votes[0].Scope
	for i := range c.Votes {
		s = narrower(s, c.Votes[i].Scope)
	}
	return s
}

// names are those who said yes, or no, as others know them.
func (c *Card) names(allow bool) string {
	var names []string
	for i := range c.Votes {
		if v := &c.Votes[i]; v.Allow == allow && v.Person != "" {
			names = append(names, v.Who())
		}
	}
	return strings.Join(names, ", ")
}

// Kind is what became of an answer. The zero Kind is that nothing happened.
type Kind uint8

// The kinds of outcome.
const (
	Ignored       Kind = iota // not meant for us
	Counted                   // the answer was taken
	TooLate                   // the question was settled or expired before
	Unauthorised              // not an approver
	NotFound                  // no such card or code
	Locked                    // too many wrong codes
	Misunderstood             // meant for us, but not to be understood
	Replied                   // it decided nothing, and Text is the reply: a list, a help text, a reset
	Shown                     // details were asked for: Card holds them; see [Outcome.Delivered]
	WantsConfirm              // the person changed the call's arguments: Edit shows what that makes of it, see [Answer]
)

// Outcome is what a person reads who answered, and what a card turns into.
type Outcome struct {
	Kind   Kind
	State  State
	Text   string
	By     string // who settled it
	Via    string
	At     time.Time
	Scope  Scope
	Reason string
	Card   *Card // what an answer was about, for a channel that has to show it; may be nil
	Edit   *Edit // of WantsConfirm

	delivered func(ctx context.Context)
}

// NotAuthorised is the reply to everyone else.
const NotAuthorised = "You are not authorized to approve/deny this request"

// Delivered says that what a tap on More asked for has reached the person, or why it has not. A channel says so of
// each [Shown].
func (o *Outcome) Delivered(ctx context.Context, failed error) {
	if o.delivered != nil && failed == nil {
		o.delivered(ctx)
	}
}

// outcome says what a card has come to, in words for people.
func (c *Card) outcome(now time.Time) Outcome {
	last := c.last()
	o := Outcome{State: c.at(now), At: last.At, Via: last.Via, Scope: c.scope(), By: c.names(true), Card: c}
	if no := c.Denial(); o.State == Denied && no != nil {
		o.Reason, o.By = no.Reason, c.names(false)
	}
	tool := quote(c.Ask.Tool)
	switch {
	case o.State == Open && len(c.Votes) > 0:
		o.Text = fmt.Sprintf("%s: %d of %d approvals.", tool, len(c.Votes), c.Ask.Approvals)
	case o.State == Allowed && last.Edited != "":
		o.Text = fmt.Sprintf("%s approved once with other arguments by %s (%s).", tool, o.By, o.Via)
	case o.State == Allowed:
		o.Text = fmt.Sprintf("%s approved %s by %s (%s).", tool, c.Ask.Reach(o.Scope), o.By, o.Via)
	case o.State == Denied && o.By != "":
		o.Text = fmt.Sprintf("%s denied by %s (%s).", tool, o.By, o.Via)
	case o.State == Denied:
		o.Text = tool + " withdrawn: " + o.Reason + "."
	case o.State == Expired:
		o.Text = tool + " expired without an answer. Nothing was approved."
	}
	return o
}

// tooLate says that an answer changed nothing, since the card was settled before.
func (c *Card) tooLate(now time.Time) Outcome {
	o := c.outcome(now)
	if o.Kind = TooLate; o.By != "" && o.State != Expired {
		o.Text = "Already answered: " + o.Text
	}
	return o
}
