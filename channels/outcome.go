package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// OutcomeLine is what a card turns into: its ref, and what became of which call,
// who said so and when. It is one line, whatever is in it.
func OutcomeLine(c *approval.Card, o approval.Outcome, now time.Time) string {
	var parts []string
	for _, f := range fates(c, &o, now.Location(), &normal) {
		parts = append(parts, f.String())
	}
	return c.Ref() + " " + strings.Join(parts, "; ")
}

// fate is what became of one or more calls.
type fate struct {
	word string // ours
	text string // how, by whom, when, and of which calls
}

// String is the fate in one line.
func (f fate) String() string { return strings.TrimSpace(f.word + " " + f.text) }

// fates are what became of the calls of a card, those with the same end together.
func fates(c *approval.Card, o *approval.Outcome, zone *time.Location, r *room) []fate {
	var out []fate
	heads := make(map[fate][]string)
	for i := range c.Questions {
		f := fateOf(&c.Questions[i], o, zone, r)
		if heads[f] == nil {
			out = append(out, f)
		}
		heads[f] = append(heads[f], Head(&c.Questions[i].Ask).String())
	}
	if left := len(out) - r.calls; r.calls > 0 && left > 0 {
		out = append(out[:r.calls], fate{word: count(left, "more", "more")})
	}
	for i, f := range out {
		of := heads[f]
		switch {
		case strings.HasSuffix(f.text, "."):
			out[i].text += " " + strings.Join(of, "; ")
		case len(of) == 1:
			out[i].text += ": " + of[0]
		case len(of) > 1:
			out[i].text += fmt.Sprintf(": %d calls: ", len(of)) + inline(strings.Join(of, "; "), atMost(r.main, normal.main))
		}
	}
	if len(out) == 0 {
		out = []fate{{text: r.inline(o.Text)}}
	}
	return out
}

// headsOf are the headlines of a card's first calls, each in so many columns, or twenty where that is less.
func headsOf(c *approval.Card, columns int) (out []string) {
	columns = max(columns, 20)
	for i := range c.Questions {
		if len(out) == headlineWidth/columns {
			return append(out, "…")
		}
		out = append(out, shortened(Head(&c.Questions[i].Ask).String(), columns))
	}
	return out
}

// fateOf describes the end of one question. The calls of a list may end differently,
// so it reads the question's own votes first, and the outcome where they are silent.
func fateOf(q *approval.Question, o *approval.Outcome, zone *time.Location, r *room) fate {
	if v := denial(q); v != nil {
		return denied(v, zone, r)
	}
	if by := approvers(q, r); len(by) > 0 && len(by) >= q.Ask.Approvals {
		last := q.Votes[len(q.Votes)-1]
		return approved(q, scope(q, o), strings.Join(by, ", "), when(last.At, zone), r)
	}
	switch o.State {
	case approval.Allowed:
		return approved(q, o.Scope, r.person(o.By), when(o.At, zone), r)
	case approval.Denied:
		return denied(&approval.Vote{Person: o.By, Via: o.Via, At: o.At, Reason: o.Reason}, zone, r)
	case approval.Expired:
		return fate{"Expired", "without an answer" + when(q.Ask.Until, zone)}
	}
	return fate{text: r.inline(o.Text)}
}

func approved(q *approval.Question, s approval.Scope, by, at string, r *room) fate {
	return fate{"Approved", r.inline(q.Ask.Reach(s)) + " by " + by + at}
}

// ending is how a card ended, in a word and a picture.
func ending(c *approval.Card, o *approval.Outcome) (word, sign string) {
	for i := range c.Questions {
		w, s := end(&c.Questions[i], o)
		if word != "" && w != word {
			return "Answered", "☑️"
		}
		word, sign = w, s
	}
	return word, sign
}

func end(q *approval.Question, o *approval.Outcome) (word, sign string) {
	by, v := approvers(q, &normal), denial(q)
	if v == nil && (len(by) == 0 || len(by) < q.Ask.Approvals) && o.State == approval.Denied {
		v = &approval.Vote{Person: o.By}
	}
	switch {
	case v != nil && v.Person == "":
		return "Withdrawn", "↩️"
	case v != nil:
		return "Denied", "⛔"
	case len(by) > 0 && len(by) >= q.Ask.Approvals, o.State == approval.Allowed:
		return "Approved", "✅"
	}
	return "Expired", "⌛"
}

// scope is how far a yes reaches: what the desk says, if there is just one.
func scope(q *approval.Question, o *approval.Outcome) approval.Scope {
	if o.State == approval.Allowed {
		return o.Scope
	}
	return q.Votes[len(q.Votes)-1].Scope
}

func denial(q *approval.Question) *approval.Vote {
	for i := range q.Votes {
		if !q.Votes[i].Allow {
			return &q.Votes[i]
		}
	}
	return nil
}

func approvers(q *approval.Question, r *room) []string {
	var names []string
	for i := range q.Votes {
		names = append(names, r.person(q.Votes[i].Who()))
	}
	return names
}

func denied(v *approval.Vote, zone *time.Location, r *room) fate {
	reason := r.inline(v.Reason)
	if reason != "" {
		reason = " (" + reason + ")"
	}
	if v.Person == "" {
		return fate{"Withdrawn", strings.TrimSpace(when(v.At, zone) + reason)}
	}
	return fate{"Denied", "by " + r.person(v.Who()) + when(v.At, zone) + reason}
}

// when is a time as the people who read it have it.
func when(at time.Time, zone *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return " at " + at.In(zone).Format("15:04 MST")
}

// person is a name as it stands in a sentence.
func (r *room) person(s string) string { return inline(s, r.name) }
