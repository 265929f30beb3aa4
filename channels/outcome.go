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
	var parts []string
	counts := make(map[string]int)
	for i := range c.Questions {
		s := result(&c.Questions[i], &o)
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
		parts = []string{inline(o.Text, sentenceLimit)}
	}
	return c.Ref() + " " + strings.Join(parts, "; ")
}

// result says what became of one question. The calls of a list may fare
// differently, so each is told by its own votes; the outcome fills in what they
// do not say.
func result(q *approval.Question, o *approval.Outcome) string {
	tool, _ := Name(q.Ask.Tool)
	if v := denial(q); v != nil {
		return tool + denied(v)
	}
	if by := approvers(q); len(by) > 0 && len(by) >= q.Ask.Approvals {
		last := q.Votes[len(q.Votes)-1]
		return fmt.Sprintf("%s approved %s by %s", tool, scope(q, o), strings.Join(by, ", ")) + where(last.Via, last.At)
	}
	switch o.State {
	case approval.Allowed:
		return fmt.Sprintf("%s approved %s by %s", tool, o.Scope, inline(o.By, nameLimit)) + where(o.Via, o.At)
	case approval.Denied:
		return tool + denied(&approval.Vote{Person: o.By, Via: o.Via, At: o.At, Reason: o.Reason})
	case approval.Expired:
		return tool + " expired without an answer" + where("", q.Ask.Until)
	}
	return tool + ": " + inline(o.Text, sentenceLimit)
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

func approvers(q *approval.Question) []string {
	var names []string
	for i := range q.Votes {
		names = append(names, inline(q.Votes[i].Person, nameLimit))
	}
	return names
}

func denied(v *approval.Vote) string {
	reason := inline(v.Reason, sentenceLimit)
	if v.Person == "" {
		return " withdrawn" + where("", v.At) + because(reason)
	}
	return " denied by " + inline(v.Person, nameLimit) + where(v.Via, v.At) + because(reason)
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
		out = " via " + inline(via, nameLimit)
	}
	if !at.IsZero() {
		out += " at " + at.UTC().Format("15:04:05 UTC")
	}
	return out
}
