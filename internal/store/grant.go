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

// Always are the grants of an agent that count in all its conversations.
func (t *Tx) Always(agent string) (*Always, error) {
	key := alwaysKey(t.of, agent)
	found, err := get[Always](t, key)
	if err != nil || found == nil || t.entry(key).known.lost {
		return &Always{}, err
	}
	return &Always{those(found.Grants, t.counts)}, nil
}

func (t *Tx) counts(g *Grant) bool { return g.Era == t.Era && g.Until.After(t.Now) }

// PutAlways replaces them. Those that are new are of this era.
func (t *Tx) PutAlways(agent string, a *Always) {
	grants := slices.Clone(a.Grants)
	h := holder{Agent: agent, Always: true, Until: t.Now}
	for i := range grants {
		grants[i].Era = t.Era // those of another era are not given out
		h.Until = pick(grants[i].Until.After(h.Until), grants[i].Until, h.Until)
	}
	t.put(alwaysKey(t.of, agent), &Always{grants}, h.Until.Add(time.Minute))
	if err := t.list(h); err != nil {
		t.failed = err
	}
}

// listGrants keeps the list in step of who has grants.
func (t *Tx) listGrants(c *Conversation) error {
	h := holder{Key: c.Key, Until: t.Now}
	for _, g := range c.Grants {
		h.Until = pick(g.Until.After(h.Until), g.Until, h.Until)
	}
	return t.list(h)
}

func (t *Tx) list(h holder) error {
	key := listKey(t.of, "granted", h.Key+h.Agent)
	found, err := get[holders](t, key)
	if err != nil {
		return err
	}
	var list holders
	until := h.Until
	if found != nil {
		for _, o := range found.Of {
			if (o.Key != h.Key || o.Agent != h.Agent || o.Always != h.Always) && o.Until.After(t.Now) {
				list.Of = append(list.Of, o)
				until = pick(o.Until.After(until), o.Until, until)
			}
		}
	}
	if h.Until.After(t.Now) {
		list.Of = append(list.Of, h)
	}
	t.put(key, &list, until.Add(time.Minute))
	return nil
}

// Grants are all that hold, with their conversations, and the time.
func (s *Store) Grants(ctx context.Context) ([]Given, time.Time, error) {
	clients, now, err := s.engine.clientDocs(ctx, s.engine.read)
	if err != nil {
		return nil, now, err
	}
	var of []Given
	keys, err := listedIn(ctx, s.engine, "granted", func(client string, list *holders) (keys []string) {
		for _, h := range list.Of {
			n := Name{Client: client, Key: h.Key}
			keys = append(keys, pick(h.Always, alwaysKey(client, h.Agent), conversationKey(n)))
			of = append(of, Given{Conversation: n, Always: h.Always})
		}
		return keys
	})
	if err != nil || len(keys) == 0 {
		return nil, now, err
	}
	found, now, err := s.engine.read(ctx, keys...)
	if err != nil {
		return nil, now, err
	}
	var all []Given
	for i, k := range found {
		grants, err := grantsOf(k, of[i].Always)
		if err != nil {
			return nil, now, err
		}
		for _, g := range grants {
			if !k.lost && g.Era == clients[of[i].Conversation.Client].Era && g.Until.After(now) {
				all = append(all, Given{Grant: g, Conversation: of[i].Conversation, Always: of[i].Always})
			}
		}
	}
	return all, now, nil
}

func grantsOf(k *known, always bool) ([]Grant, error) {
	if always {
		a, err := decode[Always](k)
		if err != nil || a == nil {
			return nil, err
		}
		return a.Grants, nil
	}
	c, err := decode[Conversation](k)
	if err != nil || c == nil {
		return nil, err
	}
	return c.Grants, nil
}
