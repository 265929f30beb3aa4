package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostNamedCalls is how many calls an answer names one by one; it counts the rest.
const mostNamedCalls = 20

// named says which calls an answer to a list was for, and what still waits. A card is frozen before anyone sees it, so an answer to it
// can be for no call that came later: the person reads that too.
func (vs *votes) named(ctx context.Context, voted []*Question, a Answer, now time.Time) string {
	verb := "Your no is for"
	if a.Allow {
		verb = "Your yes is for"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s:", verb, Count(len(voted), "call", "calls"))
	for _, q := range voted {
		runs := &q.Ask
		if a.edit != nil {
			runs = &a.edit.Ask
		}
		b.WriteString("\n• " + vs.o.Head(runs))
	}
	waiting, err := vs.stillWaiting(ctx, a, now)
	switch {
	case err != nil:
		vs.o.Log.WarnContext(ctx, "what still waits could not be listed", "err", err)
		b.WriteString("\nThe store can't be read now, so we can't list what still waits.")
	case len(waiting) > 0:
		b.WriteString("\nStill waiting, not answered by this:")
		for _, w := range waiting[:min(len(waiting), mostNamedCalls)] {
			b.WriteString("\n• " + w)
		}
		if more := len(waiting) - mostNamedCalls; more > 0 {
			fmt.Fprintf(&b, "\n• and %d more", more)
		}
	}
	return b.String()
}

// stillWaiting are the open calls that the person may answer where they look, beside those that they have just answered.
func (vs *votes) stillWaiting(ctx context.Context, a Answer, now time.Time) (out []string, _ error) {
	cards, err := vs.Pending(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	person := vs.terms().people[a.ID]
	for _, c := range cards {
		if !vs.announcer.shownIn(c, a.Via) || a.Carrier != nil && !a.Carrier.carries(c) {
			continue
		}
		for _, q := range c.all() {
			voted := slices.ContainsFunc(q.Votes, func(v Vote) bool { return v.Person == person })
			if q.state(now) == Open && !voted {
				out = append(out, c.Ref()+" "+vs.o.Head(&q.Ask))
			}
		}
	}
	return out, nil
}
