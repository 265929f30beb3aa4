package approval

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// Terminal is the way to ask that needs no chat: people look at what waits by themselves.
const Terminal = "terminal"

// Config is the owner's word on approvals.
type Config struct {
	// MaxMinutes caps how long a grant may last. 0 means 60.
	MaxMinutes int `yaml:"maxMinutes"`
	// MaxOpen is how many cards of one conversation may wait at a time; other calls wait for a place. 0 means 5.
	MaxOpen int `yaml:"maxOpen"`
	// Approvals is how many different people must allow a call. 0 means 1.
	Approvals int `yaml:"approvals"`
	// MaxPromptsPerHour is how many questions an agent may put to people within an hour. 0 means 60.
	MaxPromptsPerHour int `yaml:"maxPromptsPerHour"`
}

// Person may answer. Their ids on several platforms make one person.
type Person struct {
	Name string
	Bare bool     // the config has no name for them: it is made of the id
	IDs  []string // platform:id, by the platform's immutable user id; token:<name> for an owner token
}

// Agent says who may answer what one agent asks, and where it is put.
type Agent struct {
	// Approvers may answer, by name. Nil means every approver.
	Approvers []string `yaml:"approvers"`
	// Channels are where it is put, by name. Nil means all of them.
	Channels []string `yaml:"channels"`
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

// Configure puts new terms in force for every answer from now on, or refuses them and changes nothing. Cards that are
// open keep the deadline, the people and the number of approvals that they were put up with. A yes of someone who is
// not listed any more is worth nothing from now on.
func (cs *cards) Configure(t Terms) error {
	if min(t.MaxMinutes, t.MaxOpen, t.Approvals, t.MaxPromptsPerHour, int(t.TTL)) < 0 {
		return errors.New("approval: maxMinutes, maxOpen, approvals, maxPromptsPerHour and approvalTtlSeconds " +
			"can't be negative")
	}
	t.MaxMinutes = min(cmp.Or(t.MaxMinutes, mostMinutes), mostMinutes)
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
	cs.inForce.Store(next)
	return nil
}

// terms are those in force. They may change between two calls.
func (cs *cards) terms() *terms { return cs.inForce.Load() }

// Lists reports whether an id may answer at all. What it may answer is for Answer to say.
func (cs *cards) Lists(id string) bool { return cs.terms().people[id] != "" }

// MayAnswer reports whether an id may answer a card.
func (cs *cards) MayAnswer(id string, c *Card) bool {
	name := cs.terms().people[id]
	return name != "" && c.Ask.admits(name)
}

// CanAsk says why no one could answer a card; nil: someone could.
func (cs *cards) CanAsk() error { return cs.terms().canAsk(&Ask{Approvals: cs.terms().Approvals}) }

// canAsk is CanAsk for one question: enough of the people it goes to may allow it.
func (t *terms) canAsk(a *Ask) error {
	able := maps.Clone(t.people)
	maps.DeleteFunc(able, func(_, name string) bool { return !a.admits(name) })
	names := slices.Compact(slices.Sorted(maps.Values(able)))
	switch {
	case len(t.people) == 0:
		return errors.New("no person may approve: the approver list is empty")
	case len(names) < max(a.Approvals, 1):
		return errors.New("fewer people may approve than approvals are needed")
	}
	return nil
}

// bind fixes in a question who may answer it, and where it is put. A call that names no agent could be any agent's:
// only those may answer it who may answer for each of them, so that leaving the field out sheds nothing.
func (t *terms) bind(a *Ask) {
	a.Approvals, a.Approvers, a.Channels = t.Approvals, nil, nil
	for _, id := range slices.Sorted(maps.Keys(t.Agents)) {
		agent := t.Agents[id]
		if a.Agent != "" && !strings.EqualFold(id, a.Agent) {
			continue
		}
		if a.Approvers == nil {
			a.Approvers = slices.Clone(agent.Approvers)
		} else if agent.Approvers != nil {
			a.Approvers = slices.DeleteFunc(a.Approvers, func(name string) bool {
				return !slices.Contains(agent.Approvers, name)
			})
		}
		if a.Agent != "" && a.Channels == nil {
			a.Channels = agent.Channels
		}
	}
}

var isPlatform = regexp.MustCompile(`^[a-z_-]{1,20}$`)

// nameStarter says on the card who started the run. All that is known of them is what the client attests; a
// platform's name that can't be one is not repeated.
func (t *terms) nameStarter(a *Ask) {
	for _, id := range a.Senders {
		if name := t.people[id]; name != "" {
			a.Started += fmt.Sprintf(" (%s, %s)", name, id)
			return
		}
	}
	if len(a.Senders) == 0 {
		return
	}
	if platform, who, _ := strings.Cut(a.Senders[0], ":"); isPlatform.MatchString(platform) {
		a.Started += " (" + platform + ":" + a.Name(who) + ")"
	}
}

// lapsed reports a yes that no longer counts, since the id that it was given with is no longer that person's.
func (t *terms) lapsed(v *Vote) bool {
	return v.Allow && (v.Person == "" || t.people[v.ID] != v.Person)
}

// uphold reports whether a grant's givers may still allow such a call: each by the id with which they gave it, and as
// many as it takes today.
func (t *terms) uphold(g *store.Grant, a Ask) bool {
	t.bind(&a)
	good := len(g.By) >= max(a.Approvals, 1) && len(g.By) == len(g.IDs)
	for i, name := range g.By {
		good = good && name != "" && t.people[g.IDs[i]] == name && a.admits(name)
	}
	return good
}

// admits reports whether a person is among those who may answer. An empty list that is there admits no one.
func (a *Ask) admits(person string) bool {
	return a.Approvers == nil || slices.Contains(a.Approvers, person)
}

// bars says why a person's answer may not count; "": it may.
func (a *Ask) bars(person string) string {
	if a.admits(person) {
		return ""
	}
	goes := "It goes to " + strings.Join(a.Approvers, ", ") + "."
	if len(a.Approvers) == 0 {
		goes = "No one may: the config lists no approver who answers for every agent."
	}
	return fmt.Sprintf("%s, you may not answer this question about %s. %s", person, quote(a.Tool), goes)
}

// Platform is where people can be asked, as far as knowing them goes: the desk knows a person by the platform's name,
// a colon and the id that the platform gave that user for ever. What people can choose or change is no id.
type Platform struct {
	Name   string               // in ids and in the config: telegram
	Title  string               // as people know it: Telegram
	IsUser func(id string) bool // whether this can be the id of one of its users
	Looks  string               // what such an id is: a positive number
	Find   string               // how someone finds theirs, and what is no id
	Setup  Setup
}

// Setup is how `verifier setup` connects a platform. Without tokens it can't.
type Setup struct {
	Tokens []Token
	Anyone string // the id of a user who need not exist, for the time before the person is known
	// Pair says what the person has to do so that the line `.pair code` reaches the bot, which the platform calls
	// who.
	Pair func(who, code string) string
}

// Token is a secret that the platform gives for a bot.
type Token struct {
	Key  string // in the platform's section of the config
	Find string // what it is and where to find it, for the person who is asked for it
}
