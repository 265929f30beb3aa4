package store

import (
	"context"
	"encoding/hex"
	"slices"
	"time"
)

// Lists say which cards wait and who has grants, for people who look. Each is spread over 64 documents of a client, so
// that puts at the same moment seldom meet.
const (
	listOpen    = "open/"
	listGranted = "granted/"
	lists       = 64
)

// listed is a card, a conversation that has grants, or an agent that has such as count always.
type listed struct {
	Card   string    `json:"card,omitzero"`
	Key    string    `json:"key,omitzero"` // of a conversation
	Agent  string    `json:"agent,omitzero"`
	Always bool      `json:"always,omitzero"`
	Until  time.Time `json:"until"`

	client string
}

type listDoc struct {
	Of []listed `json:"of,omitzero"`
}

func listKey(client, list string, n byte) string {
	return keyOf(client, list+hex.EncodeToString([]byte{n % lists}))
}

// relist puts something into its list, in the place of what it was there; out of it where its Until is over. What
// nobody has put anew stays listed for a while after its Until: someone has to tell people that it is over.
func (t *Tx) relist(list string, one *listed) error {
	sum := hash(one.Card + one.Key + one.Agent)
	n, _ := hex.DecodeString(sum[:2]) // it is hex
	key := listKey(t.of, list, n[0])
	found, err := get[listDoc](t, key)
	if err != nil {
		return err
	}
	var doc listDoc
	if found != nil {
		doc.Of = slices.DeleteFunc(slices.Clone(found.Of), func(o listed) bool {
			same := o.Card == one.Card && o.Key == one.Key && o.Agent == one.Agent && o.Always == one.Always
			return same || !o.Until.Add(keepCard).After(t.Now)
		})
	}
	if one.Until.After(t.Now) {
		doc.Of = append(doc.Of, *one)
	}
	until := t.Now.Add(time.Minute)
	for _, o := range doc.Of {
		until = later(until, o.Until.Add(keepCard))
	}
	t.put(key, &doc, until)
	return nil
}

func later(a, b time.Time) time.Time { return pick(a.After(b), a, b) }

// listed reads a list of all clients.
func (e *engine) listed(ctx context.Context, list string) (all []listed, now time.Time, err error) {
	clients := e.clients()
	var keys []string
	for _, id := range clients {
		for n := range byte(lists) {
			keys = append(keys, listKey(id, list, n))
		}
	}
	found, now, err := e.read(ctx, keys...)
	if err != nil {
		return nil, now, err
	}
	for i, k := range found {
		doc, err := decode[listDoc](k)
		if err != nil {
			return nil, now, err
		}
		if doc == nil {
			continue
		}
		for _, one := range doc.Of {
			one.client = clients[i/lists]
			all = append(all, one)
		}
	}
	return all, now, nil
}
