package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

func alwaysKey(client, agent string) string {
	return keyOf(client, "always/"+hash(strings.ToLower(agent)))
}

// counts reports whether a grant holds.
func (t *Tx) counts(g *Grant) bool { return g.Era == t.Era && g.Until.After(t.Now) }

// Always are the grants of an agent that count in all its conversations.
func (t *Tx) Always(agent string) (*Always, error) {
	key := alwaysKey(t.of, agent)
	found, err := get[Always](t, key)
	if err != nil || found == nil || t.entry(key).known.lost {
		return &Always{}, err
	}
	return &Always{those(found.Grants, t.counts)}, nil
}

// PutAlways replaces them.
func (t *Tx) PutAlways(agent string, a *Always) error {
	grants := slices.Clone(a.Grants)
	for i := range grants {
		grants[i].Era = t.Era // those of another era are not given out
	}
	until := longest(t, grants)
	put(t, alwaysKey(t.of, agent), &Always{grants}, until.Add(time.Minute))
	name := ofAgent + strings.ToLower(agent)
	return enlist(t, spreadKey(t.of, granted, name), name, until)
}

// longest is until when the last of some grants holds.
func longest(t *Tx, grants []Grant) time.Time {
	until := t.Now
	for i := range grants {
		until = later(until, grants[i].Until)
	}
	return until
}

// Grants are all that hold, with their conversations, and the time.
func (s *Store) Grants(ctx context.Context) ([]Given, time.Time, error) {
	return ofListed(ctx, s.engine, granted, givenTo)
}

// givenTo are the grants of what the index names: a conversation, or an agent.
func givenTo(t *Tx, name string) (all []Given, err error) {
	in, a := Name{Client: t.of}, &Always{}
	agent, isAlways := strings.CutPrefix(name, ofAgent)
	if isAlways {
		a, err = t.Always(agent)
	} else {
		in.Key = strings.TrimPrefix(name, ofKey)
		var c *Conversation
		if c, err = t.conversation(in, false); err == nil {
			a.Grants = c.Grants
		}
	}
	for _, g := range a.Grants {
		all = append(all, Given{Grant: g, Conversation: in, Always: isAlways})
	}
	return all, err
}
