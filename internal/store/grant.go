package store

import (
	"context"
	"strings"
	"time"
)

// Always names the conversation that keeps the grants of an agent that count in all of them. No call comes from it: a
// session key has no control character.
func Always(client, agent string) Name {
	return Name{Client: client, Key: always + strings.ToLower(agent)}
}

const always = "\x01always "

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
		key, isKey := strings.CutPrefix(name, ofKey)
		if !isKey {
			return nil
		}
		in, isAlways := Name{t.client, key}, strings.HasPrefix(key, always)
		for _, g := range conversation(t, in, false).Grants {
			all = append(all, Given{Grant: g, Conversation: pick(isAlways, Name{Client: t.client}, in), Always: isAlways})
		}
		return all
	})
}
