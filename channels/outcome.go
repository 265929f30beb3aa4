package channels

import (
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// OutcomeLine is what a card turns into: its ref, and what became of which call,
// who said so and when. It is one line, whatever is in it.
func OutcomeLine(c *approval.Card, o approval.Outcome, now time.Time) string {
	f := fateOf(c, &o, &normal)
	return c.Ref() + " " + f.In(now.Location())
}

// Fate is what became of a call: "Denied", "by alice", when, "(use make)", "Run: make deploy".
type Fate struct {
	Word string    // ours
	How  string    // by whom, and how far a yes reaches
	At   time.Time // to the minute; zero where it is not known
	Why  string    // the reason in brackets, if there is one
	Of   string    // which calls
}

// FateOf is what became of a card.
func FateOf(c *approval.Card, o *approval.Outcome) Fate { return fateOf(c, o, &normal) }

// In is the fate in one line, with the time as a clock in that zone has it.
func (f Fate) In(zone *time.Location) string { return strings.TrimSpace(f.Word + " " + f.rest(zone)) }

// rest is all but the word.
func (f Fate) rest(zone *time.Location) string {
	at := ""
	if !f.At.IsZero() {
		at = "at " + f.At.In(zone).Format("15:04 MST")
	}
	parts := slices.DeleteFunc([]string{f.How, at, f.Why}, func(s string) bool { return s == "" })
	text, between := strings.Join(parts, " "), ": "
	switch {
	case f.Of == "":
		return text
	case text == "" || strings.HasSuffix(text, "."):
		between = " "
	}
	return strings.TrimSpace(text + between + f.Of)
}

// fateOf describes the end of a card. It reads the votes first, and the outcome where they are silent.
func fateOf(c *approval.Card, o *approval.Outcome, r *room) (f Fate) {
	v, last := c.Denial(), c.Votes
	switch {
	case v != nil:
		f = denied(v, r)
	case o.State == approval.Allowed && len(last) > 0:
		f = approved(c, o.Scope, strings.Join(approvers(c, r), ", "), last[len(last)-1].At, r)
	case o.State == approval.Allowed:
		f = approved(c, o.Scope, r.person(o.By), o.At, r)
	case o.State == approval.Denied:
		f = denied(&approval.Vote{Person: o.By, Via: o.Via, At: o.At, Reason: o.Reason}, r)
	case o.State == approval.Expired:
		f = Fate{Word: "Expired", How: "without an answer", At: minute(c.Ask.Until)}
	default:
		f = Fate{How: r.inline(o.Text)}
	}
	f.Of = Head(&c.Ask).String()
	return f
}

func approved(c *approval.Card, s approval.Scope, by string, at time.Time, r *room) Fate {
	return Fate{Word: "Approved", How: r.inline(c.Ask.Reach(s)) + " by " + by, At: minute(at)}
}

// ending is how a card ended, in a word and a picture.
func ending(c *approval.Card, o *approval.Outcome) (word, sign string) {
	v := c.Denial()
	if v == nil && o.State == approval.Denied {
		v = &approval.Vote{Person: o.By}
	}
	switch {
	case v != nil && v.Person == "":
		return "Withdrawn", "↩️"
	case v != nil:
		return "Denied", "⛔"
	case o.State == approval.Allowed:
		return "Approved", "✅"
	}
	return "Expired", "⌛"
}

func approvers(c *approval.Card, r *room) []string {
	var names []string
	for i := range c.Votes {
		names = append(names, r.person(c.Votes[i].Who()))
	}
	return names
}

func denied(v *approval.Vote, r *room) Fate {
	reason := r.inline(v.Reason)
	if reason != "" {
		reason = "(" + reason + ")"
	}
	if v.Person == "" {
		return Fate{Word: "Withdrawn", At: minute(v.At), Why: reason}
	}
	return Fate{Word: "Denied", How: "by " + r.person(v.Who()), At: minute(v.At), Why: reason}
}

// minute is a time to the minute, which is all that is shown of it: what ended in the same minute ended together.
func minute(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.UTC().Truncate(time.Minute)
}

// person is a name as a sentence has it.
func (r *room) person(s string) string { return inline(s, r.name) }
