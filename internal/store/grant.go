package store

import (
	"context"
	"errors"
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
func (t *Tx) PutAlways(agent string, a *Always) {
	grants, until := slices.Clone(a.Grants), t.Now
	for i := range grants {
		grants[i].Era = t.Era // those of another era are not given out
		until = later(until, grants[i].Until)
	}
	t.put(alwaysKey(t.of, agent), &Always{grants}, until.Add(time.Minute))
	if err := t.relist(listGranted, &listed{Agent: agent, Always: true, Until: until}); err != nil {
		t.failed = err
	}
}

// listGrants keeps the list in step of who has grants.
func (t *Tx) listGrants(c *Conversation) error {
	until := t.Now
	for i := range c.Grants {
		until = later(until, c.Grants[i].Until)
	}
	return t.relist(listGranted, &listed{Key: c.Key, Until: until})
}

// Grants are all that hold, with their conversations, and the time.
func (s *Store) Grants(ctx context.Context) ([]Given, time.Time, error) {
	list, now, err := s.engine.listed(ctx, listGranted)
	if err != nil || len(list) == 0 {
		return nil, now, err
	}
	keys := make([]string, len(list))
	for i, l := range list {
		keys[i] = pick(l.Always, alwaysKey(l.client, l.Agent), conversationKey(Name{l.client, l.Key}))
	}
	clients, found, now, err := s.engine.readWithClients(ctx, s.engine.read, keys...)
	var all []Given
	for i, k := range found {
		grants, errGrants := grantsOf(k, list[i].Always)
		err = errors.Join(err, errGrants)
		for _, g := range grants {
			if g.Era == clients[list[i].client].Era && g.Until.After(now) {
				all = append(all, Given{Grant: g, Conversation: Name{list[i].client, list[i].Key},
					Always: list[i].Always})
			}
		}
	}
	return all, now, err
}

func grantsOf(k *known, always bool) ([]Grant, error) {
	if k.lost {
		return nil, nil
	}
	if always {
		a, err := decode[Always](k)
		return pick(a == nil, &Always{}, a).Grants, err
	}
	c, err := decode[Conversation](k)
	return pick(c == nil, &Conversation{}, c).Grants, err
}
