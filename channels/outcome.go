package channels

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// OutcomeLine is what a card turns into: its ref, and what became of which call,
// who said so and when. It is one line, whatever is in it.
func OutcomeLine(c *approval.Card, o approval.Outcome, now time.Time) string {
	var parts []string
	for _, f := range fates(c, &o, &normal) {
		parts = append(parts, f.In(now.Location()))
	}
	return c.Ref() + " " + strings.Join(parts, "; ")
}

// Fate is what became of one or more calls: "Denied", "by alice", when, "(use make)", "Run: make deploy".
type Fate struct {
	Word string    // ours
	How  string    // by whom, and how far a yes reaches
	At   time.Time // to the minute; zero where it is not known
	Why  string    // the reason in brackets, if there is one
	Of   string    // which calls
}

// Fates are what became of the calls of a card, those with the same end together.
func Fates(c *approval.Card, o *approval.Outcome) []Fate { return fates(c, o, &normal) }

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

func fates(c *approval.Card, o *approval.Outcome, r *room) []Fate {
	var out []Fate
	heads := make(map[Fate][]string)
	for i := range c.Questions {
		f := fateOf(&c.Questions[i], o, r)
		if heads[f] == nil {
			out = append(out, f)
		}
		heads[f] = append(heads[f], Head(&c.Questions[i].Ask).String())
	}
	if left := len(out) - r.calls; r.calls > 0 && left > 0 {
		out = append(out[:r.calls], Fate{Word: approval.Count(left, "more", "more")})
	}
	for i, f := range out {
		switch of := heads[f]; {
		case len(of) == 1:
			out[i].Of = of[0]
		case len(of) > 1:
			out[i].Of = fmt.Sprintf("%d calls: ", len(of)) + inline(strings.Join(of, "; "), atMost(r.main, normal.main))
		}
	}
	if len(out) == 0 {
		out = []Fate{{How: r.inline(o.Text)}}
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
func fateOf(q *approval.Question, o *approval.Outcome, r *room) Fate {
	if v := q.Denial(); v != nil {
		return denied(v, r)
	}
	if by := approvers(q, r); len(by) > 0 && len(by) >= q.Ask.Approvals {
		last := q.Votes[len(q.Votes)-1]
		return approved(q, scope(q, o), strings.Join(by, ", "), last.At, r)
	}
	switch o.State {
	case approval.Allowed:
		return approved(q, o.Scope, r.person(o.By), o.At, r)
	case approval.Denied:
		return denied(&approval.Vote{Person: o.By, Via: o.Via, At: o.At, Reason: o.Reason}, r)
	case approval.Expired:
		return Fate{Word: "Expired", How: "without an answer", At: minute(q.Ask.Until)}
	}
	return Fate{How: r.inline(o.Text)}
}

func approved(q *approval.Question, s approval.Scope, by string, at time.Time, r *room) Fate {
	return Fate{Word: "Approved", How: r.inline(q.Ask.Reach(s)) + " by " + by, At: minute(at)}
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
	by, v := approvers(q, &normal), q.Denial()
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

func approvers(q *approval.Question, r *room) []string {
	var names []string
	for i := range q.Votes {
		names = append(names, r.person(q.Votes[i].Who()))
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
