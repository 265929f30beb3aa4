package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

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
	WantsConfirm              // the person changed the call's arguments: Edit shows what that makes of it; the same answer again counts
)

// Outcome is what a person reads who answered, and what a card turns into.
type Outcome struct {
	Kind   Kind
	State  State // of the first question it is about
	Text   string
	By     string // who settled it
	Via    string
	At     time.Time
	Scope  Scope
	Reason string
	Card   *Card // what a tap was about, for a channel that has to show it; may be nil
	Edit   *Edit // of WantsConfirm

	delivered func(ctx context.Context, failed error)
}

// NotAuthorised is the reply to everyone else.
const NotAuthorised = "You are not authorized to approve/deny this request"

// outcome says what became of questions, in words for people. Questions of one
// card may have ended differently; each end is a sentence.
func (c *Card) outcome(asked []*Question, now time.Time) Outcome {
	var groups [Expired + 1][]*Question
	for _, q := range asked {
		s := q.state(now)
		groups[s] = append(groups[s], q)
	}
	first := asked[0]
	o := Outcome{State: first.state(now), At: first.last().At, Scope: first.scope()}
	o.By = first.names(o.State != Denied)
	if n := len(first.Votes); n > 0 {
		o.Via = first.Votes[n-1].Via
	}
	if o.State == Denied {
		o.Reason = first.reason()
	}
	var sentences []string
	for s, group := range groups {
		if len(group) > 0 {
			sentences = append(sentences, c.sentence(State(s), group))
		}
	}
	o.Text, o.Card = strings.Join(sentences, " "), c
	return o
}

// sentence says one end of one or more questions.
func (c *Card) sentence(s State, asked []*Question) string {
	q, what := asked[0], tools(asked)
	if len(asked) > 1 {
		what = fmt.Sprintf("%d calls (%s)", len(asked), what)
	}
	via := ""
	if n := len(q.Votes); n > 0 {
		via = q.Votes[n-1].Via
	}
	switch s {
	case Allowed:
		if slices.ContainsFunc(q.Votes, func(v Vote) bool { return v.Edited != "" }) {
			return fmt.Sprintf("%s approved once with other arguments by %s (%s).", what, q.names(true), via)
		}
		return fmt.Sprintf("%s approved %s by %s (%s).", what, q.Ask.Reach(q.scope()), q.names(true), via)
	case Denied:
		if who := q.names(false); who != "" {
			return fmt.Sprintf("%s denied by %s (%s).", what, who, via)
		}
		return what + " withdrawn: " + q.reason() + "."
	case Expired:
		return what + " expired without an answer. Nothing was approved."
	}
	return fmt.Sprintf("%s: %d of %d approvals.", what, len(q.Votes), q.Ask.Approvals)
}

// status is what a card says of itself now. It is open as long as anything on
// it waits for an answer.
func (c *Card) status(now time.Time) Outcome {
	o := c.outcome(c.all(), now)
	if c.closed(now) {
		return o
	}
	o.State = Open
	if !c.voted() { // there is nothing to tell yet
		o.Text = ""
	}
	return o
}

// voted reports whether anyone has answered anything on the card.
func (c *Card) voted() bool {
	return slices.ContainsFunc(c.Questions, func(q Question) bool { return len(q.Votes) > 0 })
}
