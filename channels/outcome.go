package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// OutcomeLine is what a card turns into: its ref, what became of which call,
// who said so where and when. It is one line, whatever is in it.
func OutcomeLine(c *approval.Card, o approval.Outcome) string {
	return c.Ref() + " " + strings.Join(results(c, &o, &normal), "; ")
}

// results are what became of each call, calls with the same end together.
func results(c *approval.Card, o *approval.Outcome, r *room) []string {
	var parts []string
	counts := make(map[string]int)
	for i := range c.Questions {
		s := result(&c.Questions[i], o, r)
		if counts[s]++; counts[s] == 1 {
			parts = append(parts, s)
		}
	}
	for i, s := range parts {
		if n := counts[s]; n > 1 {
			parts[i] = fmt.Sprintf("%d × %s", n, s)
		}
	}
	if len(parts) == 0 {
		parts = []string{r.inline(o.Text)}
	}
	if left := len(parts) - r.calls; r.calls > 0 && left > 0 {
		parts = append(parts[:r.calls], count(left, "more", "more"))
	}
	return parts
}

// result says what became of one question. The calls of a list may fare
// differently, so each is told by its own votes; the outcome fills in what they
// do not say.
func result(q *approval.Question, o *approval.Outcome, r *room) string {
	tool, _ := name(q.Ask.Tool, r.name)
	if v := denial(q); v != nil {
		return tool + denied(v, r)
	}
	if by := approvers(q, r); len(by) > 0 && len(by) >= q.Ask.Approvals {
		last := q.Votes[len(q.Votes)-1]
		return fmt.Sprintf("%s approved %s by %s", tool, r.inline(q.Ask.Reach(scope(q, o))), strings.Join(by, ", ")) + where(last.Via, last.At)
	}
	switch o.State {
	case approval.Allowed:
		return fmt.Sprintf("%s approved %s by %s", tool, r.inline(q.Ask.Reach(o.Scope)), r.person(o.By)) + where(o.Via, o.At)
	case approval.Denied:
		return tool + denied(&approval.Vote{Person: o.By, Via: o.Via, At: o.At, Reason: o.Reason}, r)
	case approval.Expired:
		return tool + " expired without an answer" + where("", q.Ask.Until)
	}
	return tool + ": " + r.inline(o.Text)
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
		names = append(names, r.person(q.Votes[i].Person))
	}
	return names
}

func denied(v *approval.Vote, r *room) string {
	reason := r.inline(v.Reason)
	if v.Person == "" {
		return " withdrawn" + where("", v.At) + because(reason)
	}
	return " denied by " + r.person(v.Person) + where(v.Via, v.At) + because(reason)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func where(via string, at time.Time) string {
	out := ""
	if via != "" {
		out = " via " + normal.person(via)
	}
	if !at.IsZero() {
		out += " at " + at.UTC().Format("15:04:05 UTC")
	}
	return out
}

// person is a name as it stands in a sentence.
func (r *room) person(s string) string { return inline(s, r.name) }
