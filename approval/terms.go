package approval

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Config is the owner's word on approvals.
type Config struct {
	// MaxMinutes caps how long a grant may last. 0 means 60.
	MaxMinutes int `yaml:"maxMinutes"`
	// MaxOpen is how many cards of one conversation may wait at a time; the
	// rest share one more. 0 means 5.
	MaxOpen int `yaml:"maxOpen"`
	// Approvals is how many different people must allow a call. 0 means 1.
	Approvals int `yaml:"approvals"`
	// MaxPromptsPerHour is how many questions an agent may put to people within
	// an hour. 0 means 60.
	MaxPromptsPerHour int `yaml:"maxPromptsPerHour"`
}

// Person may answer. Their ids on several platforms make one person.
type Person struct {
	Name string
	Bare bool     // the config has no name for them: it is made of the id
	IDs  []string // platform:id, by the platform's immutable user id; token:<name> for an owner token
}

// Terms are what the owner may change while the desk is open.
type Terms struct {
	Config
	TTL    time.Duration    // how long a card, and then a yes, is good; 0 means 30 min
	People []Person         // only these may answer; empty: no one may
	Agents map[string]Agent // what is special about single agents, by their ids
	Names  bool             // record only the names of params
}

// terms are Terms that were checked, with people by their ids.
type terms struct {
	Terms
	people map[string]string // id to name
	bare   map[string]bool   // ids of those without a name
}

// Configure puts new terms in force for every answer from now on, or refuses
// them and changes nothing. Cards that are open keep the deadline and the quorum
// they were frozen with. A yes of someone who is not listed any more is worth
// nothing from now on, unless a call has passed by it already: see dropLapsed.
func (d *Desk) Configure(t Terms) error {
	if t.MaxMinutes < 0 || t.MaxOpen < 0 || t.Approvals < 0 || t.MaxPromptsPerHour < 0 || t.TTL < 0 {
		return errors.New("approval: maxMinutes, maxOpen, approvals, maxPromptsPerHour and approvalTtlSeconds can't be negative")
	}
	t.MaxMinutes = cmp.Or(t.MaxMinutes, defaultMinutes)
	t.MaxOpen = cmp.Or(t.MaxOpen, defaultOpen)
	t.Approvals = cmp.Or(t.Approvals, 1)
	t.MaxPromptsPerHour = cmp.Or(t.MaxPromptsPerHour, defaultPrompts)
	t.TTL = cmp.Or(t.TTL, DefaultTTL)
	next := &terms{Terms: t, people: make(map[string]string), bare: make(map[string]bool)}
	for _, p := range t.People {
		for _, id := range p.IDs {
			if other, taken := next.people[id]; taken && other != p.Name {
				return errors.New("approval: the id " + id + " belongs to two approvers, " + other + " and " + p.Name)
			}
			next.people[id], next.bare[id] = p.Name, p.Bare
		}
	}
	d.inForce.Store(next)
	return nil
}

// terms are those in force. They may change between two calls.
func (c *core) terms() *terms { return c.inForce.Load() }

// Covers reports whether a lasting grant still covers a call: all who gave it may
// approve such calls today, and they are as many as it takes today. It is given
// the grant's people by [session.Grant.Givers].
func (gr *Grants) Covers(givers string, a Ask) bool { return gr.terms().covers(givers, a) }

func (t *terms) covers(givers string, a Ask) bool {
	t.bind(&a)
	by, _, _ := strings.Cut(givers, "\n")
	names := strings.Split(by, peopleBetween)
	barred := func(name string) bool { return !a.admits(name) }
	return t.approve(givers) && !slices.ContainsFunc(names, barred) && len(names) >= a.Approvals
}

// approve reports whether all of these people may still approve: an id with which one of them said yes may belong to no one by now, or to
// someone else.
func (t *terms) approve(givers string) bool {
	by, with, known := strings.Cut(givers, "\n")
	names, ids := strings.Split(by, peopleBetween), strings.Split(with, peopleBetween)
	for i, name := range names {
		if !t.lists(name) || known && (len(ids) != len(names) || t.people[ids[i]] != name) {
			return false
		}
	}
	return true
}

// peopleBetween separates the names of those who agreed.
const peopleBetween = ", "

func (t *terms) lists(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(t.people)), name)
}

// withdrawn is what is left of a yes whose giver may no longer approve.
const withdrawn = "the yes no longer counts"

// dropLapsed drops each yes of someone who is not listed any more, under the id
// that it was given with. Where that takes back a yes that no call has used yet,
// the question is refused: its card was settled and shows no buttons, so no
// other answer can come.
func (t *terms) dropLapsed(q *Question, now time.Time) {
	if !slices.ContainsFunc(q.Votes, t.lapsed) || q.Used != "" {
		return
	}
	before := q.state(now)
	q.Votes = slices.DeleteFunc(q.Votes, t.lapsed)
	if before == Allowed && q.state(now) != Allowed {
		q.withdraw(withdrawn, now)
	}
}

// lapsed reports a yes that no longer counts. A no always does.
func (t *terms) lapsed(v Vote) bool { return v.Allow && t.people[v.ID] != v.Person }
