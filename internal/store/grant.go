package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

func alwaysKey(client, agent string) string {
	return keyOf(client, "always/", hashOf(strings.ToLower(agent)))
}

// Always are the grants of an agent that count in all its conversations.
func (t *Tx) Always(agent string) (*Always, error) {
	key := alwaysKey(t.client, agent)
	found, err := get[Always](t, key)
	if err != nil || found == nil || t.entry(key).known.lost || found.Era != t.doc.Era {
		return &Always{}, err
	}
	return &Always{Grants: holding(t, found.Grants)}, nil
}

// PutAlways replaces them.
func (t *Tx) PutAlways(agent string, a *Always) error {
	until := longest(t, a.Grants)
	put(t, alwaysKey(t.client, agent), &Always{slices.Clone(a.Grants), t.doc.Era}, until.Add(time.Minute))
	name := ofAgent + strings.ToLower(agent)
	return enlist(t, listKey(t.client, name), name, until)
}

// holding leaves out the grants that are over, in a copy.
func holding(t *Tx, grants []Grant) []Grant {
	return those(grants, func(g *Grant) bool { return g.Until.After(t.Now) })
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
	return ofListed(ctx, s.engine, func(t *Tx, name string) (all []Given, err error) {
		in, grants := Name{Client: t.client}, []Grant(nil)
		agent, isAlways := strings.CutPrefix(name, ofAgent)
		if isAlways {
			var a *Always
			a, err = t.Always(agent)
			grants = a.Grants
		} else if key, isKey := strings.CutPrefix(name, ofKey); isKey {
			var c *Conversation
			in.Key = key
			if c, err = conversation(t, in, false); err == nil {
				grants = c.Grants
			}
		}
		for i := range grants {
			all = append(all, Given{Grant: grants[i], Conversation: in, Always: isAlways})
		}
		return all, err
	})
}
