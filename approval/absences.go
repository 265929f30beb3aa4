package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Absences are who is not asked now, and about what no one is.
type Absences struct {
	Me     string   // who looks, by name; empty: someone who may not approve
	Others []string // whom they may name to decide
	Away   []Away
	Muted  []Mute
}

// Away is a person who is not asked now.
type Away struct {
	Person, Decides string    // Decides was named to do so; may be empty
	Until           time.Time // when they are asked again
	Quiet           bool      // only because of their quiet hours
}

// Mute is an agent or a conversation that no one is asked about now.
type Mute struct {
	Agent, Conversation, By string // an agent's scope, or the hash of a conversation
	Until                   time.Time
}

// Ref is the short name of a muted conversation.
func (m *Mute) Ref() string { return strings.ToUpper(m.Conversation[:8]) }

// IsAway reports whether the person who looks said that they are away.
func (a Absences) IsAway() bool {
	return slices.ContainsFunc(a.Away, func(x Away) bool { return x.Person == a.Me && !x.Quiet })
}

// Now gives the absences and mutes of now, for a person by their id.
func (av *Availability) Now(ctx context.Context, id string) (Absences, error) {
	said, err := av.words(ctx)
	if err != nil {
		return Absences{}, err
	}
	t, now := av.terms(), av.o.Now()
	out := Absences{Me: t.people[id]}
	for i := range t.People {
		p := &t.People[i]
		if p.Name != out.Me && len(p.IDs) > 0 {
			out.Others = append(out.Others, p.Name)
		}
		if until := t.returns(p, said, false, now); until.After(now) {
			w, isAway := said.holds(aboutPerson(p.Name), now)
			a := Away{Person: p.Name, Until: until, Quiet: !isAway}
			if isAway {
				a.Decides = t.named(w.other)
			}
			out.Away = append(out.Away, a)
		}
	}
	for about, w := range said {
		if agent, ok := strings.CutPrefix(about, aboutAgents); ok && now.Before(w.until) {
			out.Muted = append(out.Muted, Mute{Agent: agent, By: w.by, Until: w.until})
		}
		if hash, ok := strings.CutPrefix(about, aboutTalks); ok && now.Before(w.until) {
			out.Muted = append(out.Muted, Mute{Conversation: hash, By: w.by, Until: w.until})
		}
	}
	slices.SortFunc(out.Muted, func(a, b Mute) int {
		return strings.Compare(a.Agent+a.Conversation, b.Agent+b.Conversation)
	})
	return out, nil
}

// Text says who is away and what is muted, a line each.
func (av *Availability) Text(ctx context.Context, via string) string {
	now, err := av.Now(ctx, "")
	if err != nil {
		return "" // what waits is listed all the same
	}
	var b strings.Builder
	for _, a := range now.Away {
		fmt.Fprintf(&b, "AWAY: %s until %s", a.Person, a.Until.In(av.terms().zone(a.Person)).Format(awayFormat))
		if a.Decides != "" {
			b.WriteString(", " + a.Decides + " decides")
		}
		b.WriteString(".\n")
	}
	for _, m := range now.Muted {
		name := whom(av.o.Hide(m.Agent))
		if m.Agent == "" {
			name = "The conversation " + m.Ref()
		}
		fmt.Fprintf(&b, "MUTED: %s by %s until %s. %s ends it.\n", name, m.By, m.Until.UTC().Format(awayFormat), command(via, "unmute"))
	}
	return b.String()
}

// Reachable says of a person, by their id, whether to notify them of a card now: they may answer a call on it, are not away, and it breaks
// their quiet hours if they have any. If the store does not answer, absences don't count: a notification allows nothing.
func (av *Availability) Reachable(ctx context.Context) func(id string, c *Card) bool {
	t, now := av.terms(), av.o.Now()
	said, err := av.words(ctx)
	if err != nil {
		av.o.Log.WarnContext(ctx, "who is away could not be read", "err", err)
	}
	return func(id string, c *Card) bool {
		name, listed := t.people[id]
		p := t.person(name)
		return listed && slices.ContainsFunc(c.Questions, func(q Question) bool {
			return q.Ask.admits(name) && !t.returns(&p, said, t.urgent(&q.Ask), now).After(now)
		})
	}
}
