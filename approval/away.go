package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Availability is who can be asked now: it knows absences, quiet hours and mutes.
type Availability struct{ *cardStore }

// Quiet hours and absences say whom to disturb, and not whom to trust: a person who is away may still answer, and no one may answer more
// than the config lets them. Where too few of those who may allow a call are there, it is denied at once, and the agent reads when to ask
// again. What was answered before stays as it is.

// notNow says that no one is asked about a call now.
type notNow struct {
	muted bool      // a person wants no questions about it; else too few people are there
	until time.Time // when to ask again
}

func (n *notNow) Error() string {
	return "approval: no one is asked before " + n.until.UTC().Format(time.DateTime)
}

// askNow finds out who can be asked about a call now, or why none is: see Request.notNow.
func (av *Availability) askNow(ctx context.Context, r *Request) error {
	if r.Ask.Test {
		return nil
	}
	said, err := av.words(ctx)
	if err != nil {
		return err
	}
	if until, muted := said.muted(&r.Ask, r.Now); muted {
		r.notNow = &notNow{muted: true, until: until}
		return nil
	}
	t, bound := av.terms(), r.Ask
	t.bind(&bound)
	var again time.Time
	if r.there, again = t.there(&bound, said, r.Now); again.After(r.Now) {
		r.notNow = &notNow{until: again}
	}
	return nil
}

// there are those who can be asked about a question now, and when enough of them can: now, or later.
func (t *terms) there(a *Ask, said words, now time.Time) (there presence, again time.Time) {
	var back []time.Time
	for _, p := range t.People {
		if _, barred := a.bars(p.Name, true); barred || len(p.IDs) == 0 {
			continue
		}
		at := t.returns(&p, said, t.urgent(a), now)
		back = append(back, at)
		if w, away := said.holds(aboutPerson(p.Name), now); away && w.other != "" {
			there.deciding = append(there.deciding, w.other)
		}
		if at.After(now) {
			there.missing = true
		} else {
			there.people = append(there.people, p)
		}
	}
	slices.SortFunc(back, time.Time.Compare)
	if need := max(a.Approvals, 1); need <= len(back) {
		return there, back[need-1]
	}
	return there, now // for canAsk to say
}

// returns is when a person can be asked: now, or when their absence and their quiet hours are over.
func (t *terms) returns(p *Person, said words, urgent bool, now time.Time) time.Time {
	at := now
	if w, away := said.holds(aboutPerson(p.Name), at); away {
		at = w.until
	}
	if p.Quiet.holds(at) && !urgent {
		at = p.Quiet.end(at)
	}
	if w, away := said.holds(aboutPerson(p.Name), at); away { // it began to count in the quiet hours
		at = w.until
	}
	return at
}

// urgent reports whether a call is one for which quiet hours are broken. A call that may do anything has every stake; it is urgent only
// where the config says so of unknown calls.
func (t *terms) urgent(a *Ask) bool {
	return slices.ContainsFunc(t.Urgent, func(word string) bool {
		switch {
		case word == string(policy.StakeAll):
			return true
		case !slices.Contains(policy.Stakes(), word): // an agent may call its tool what it likes, such as "money"
			return toolcall.Canonical(word) == a.Tool
		case slices.Contains(a.Stakes, string(policy.StakeUnknown)):
			return word == string(policy.StakeUnknown)
		}
		return slices.Contains(a.Stakes, word)
	})
}

// presence is who can be asked about a call.
type presence struct {
	people   []Person
	missing  bool     // someone who may allow it can't be
	deciding []string // whom those who are away named
}

// hasten puts a question at once where its later stages go, as long as those before reach only people who are not there. Who was named to
// decide has to be reached, if any stage does that. No channel is added that the route does not name.
func (p *presence) hasten(a *Ask) {
	if !p.missing {
		return
	}
	wanted := slices.DeleteFunc(slices.Clone(p.people), func(x Person) bool {
		return !slices.Contains(p.deciding, x.Name) || !slices.ContainsFunc(a.Stages, func(s Stage) bool { return s.reaches(&x) })
	})
	reached := func(s Stage) bool {
		if len(wanted) > 0 {
			return !slices.ContainsFunc(wanted, func(x Person) bool { return !s.reaches(&x) })
		}
		return slices.ContainsFunc(p.people, func(x Person) bool { return s.reaches(&x) })
	}
	for len(a.Stages) > 1 && !reached(a.Stages[0]) {
		next := Stage{From: a.Stages[0].From, Channels: slices.Concat(a.Stages[0].Channels, a.Stages[1].Channels)}
		a.Stages = append([]Stage{next}, a.Stages[2:]...)
	}
}

// reaches reports whether a person has an id where a stage puts its question.
func (s *Stage) reaches(p *Person) bool {
	return len(s.Channels) == 0 || slices.ContainsFunc(p.IDs, func(id string) bool {
		platform, _, _ := strings.Cut(id, ":")
		if platform == "token" {
			platform = Terminal
		}
		return slices.Contains(s.Channels, platform)
	})
}

// away takes `.away`: a person is not asked until a time, and may name an approver who decides. That one gets no right by it.
func (av *Availability) away(ctx context.Context, person, via string, cmd *codes.Command) (Outcome, error) {
	t := av.terms()
	now := av.o.Now().In(t.zone(person))
	until, _ := codes.Until(cmd.When, now)
	if !until.After(now) || until.After(now.AddDate(0, 0, maxAwayDays)) {
		return Outcome{Kind: Misunderstood, Text: fmt.Sprintf("Say until when, in the next %d days. Nothing was changed.", maxAwayDays)}, nil
	}
	other := t.named(cmd.Person)
	switch {
	case other == "" && cmd.Person != "":
		return Outcome{Kind: NotFound, Text: "No approver in the config has the name " + quote(av.o.Hide(cmd.Person)) + ". Nothing was changed."}, nil
	case other == person:
		return Outcome{Kind: Misunderstood, Text: "Name someone else to decide while you are away. Nothing was changed."}, nil
	}
	before, err := av.words(ctx)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	text := fmt.Sprintf("%s is away until %s.", person, until.Format(awayFormat))
	if other != "" {
		text += fmt.Sprintf(" %s decides what %s may answer already.", other, other)
	}
	return av.tellWords(ctx, before, via, text, word{about: aboutPerson(person), until: until, other: other, by: person})
}

const awayFormat = "Mon 2006-01-02 15:04 MST"

// back takes `.back`.
func (av *Availability) back(ctx context.Context, person, via string) (Outcome, error) {
	before, err := av.words(ctx)
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if _, away := before.holds(aboutPerson(person), av.o.Now()); !away {
		return Outcome{Kind: Replied, Text: person + ", you are not away." + av.terms().quietNow(person, av.o.Now())}, nil
	}
	return av.tellWords(ctx, before, via, person+" is back."+av.terms().quietNow(person, av.o.Now()), word{about: aboutPerson(person), by: person})
}

// quietNow says that a person's quiet hours hold.
func (t *terms) quietNow(name string, now time.Time) string {
	if p := t.person(name); p.Quiet.holds(now) {
		return fmt.Sprintf(" Quiet hours hold until %s.", p.Quiet.end(now).In(p.Quiet.zone).Format(awayFormat))
	}
	return ""
}

// person is the entry of a person.
func (t *terms) person(name string) Person {
	if at := slices.IndexFunc(t.People, func(p Person) bool { return p.Name == name }); at >= 0 {
		return t.People[at]
	}
	return Person{}
}

// zone is where a person lives, as far as their quiet hours say so; else where this machine is.
func (t *terms) zone(name string) *time.Location {
	if p := t.person(name); p.Quiet.zone != nil {
		return p.Quiet.zone
	}
	return time.Local
}

// named finds an approver by a typed name, in either case.
func (t *terms) named(typed string) string {
	for _, p := range t.People {
		if typed != "" && strings.EqualFold(p.Name, typed) && len(p.IDs) > 0 {
			return p.Name
		}
	}
	return ""
}
