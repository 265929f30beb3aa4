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

// always are the grants of an agent that were given on the page for up to 30 days.
type always struct {
	Grants []Grant `json:"grants"`
	Era    int64   `json:"era,omitzero"` // they count in the one in which they were put
}

// Always are the grants of an agent that count in all its conversations.
func (t *Tx) Always(agent string) []Grant {
	key := alwaysKey(t.client, agent)
	found := get[always](t, key)
	if found == nil || t.entry(key).known.lost || found.Era != t.doc.Era {
		return nil
	}
	return holding(t, found.Grants)
}

// PutAlways replaces them.
func (t *Tx) PutAlways(agent string, grants []Grant) {
	until := longest(t, grants)
	put(t, alwaysKey(t.client, agent), &always{slices.Clone(grants), t.doc.Era}, until.Add(time.Minute))
	name := ofAgent + strings.ToLower(agent)
	enlist(t, listKey(t.client, name), name, until)
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
	return ofListed(ctx, s.engine, func(t *Tx, name string) (all []Given) {
		in, grants := Name{Client: t.client}, []Grant(nil)
		agent, isAlways := strings.CutPrefix(name, ofAgent)
		if key, isKey := strings.CutPrefix(name, ofKey); isKey {
			in.Key = key
			grants = conversation(t, in, false).Grants
		} else if isAlways {
			grants = t.Always(agent)
		}
		for i := range grants {
			all = append(all, Given{Grant: grants[i], Conversation: in, Always: isAlways})
		}
		return all
	})
}
