package store

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// clientDoc is what is known of a client. Every change of its other documents rests on it, so no pause, no new era and
// no loss can be missed.
type clientDoc struct {
	Epoch    string    `json:"epoch"`             // names the store: this machine remembers it outside
	Was      []string  `json:"was,omitzero"`      // epochs that were lost
	Lost     bool      `json:"lost,omitzero"`     // what was known is gone, and the owner has not accepted that
	Era      int64     `json:"era,omitzero"`      // see Tx.Era
	Pauses   []Pause   `json:"pauses,omitzero"`   // those that are on
	Paused   time.Time `json:"paused,omitzero"`   // when an agent was last paused or resumed
	Forgiven time.Time `json:"forgiven,omitzero"` // questions of before don't count
	Unseen   *Mark     `json:"unseen,omitzero"`
}

const mostEpochs = 16

// isLoss reports whether a machine that remembers another epoch has lost what it knew, and nobody has noted that yet.
func (c *clientDoc) isLoss(here string) bool {
	return here != "" && c.Epoch != here && !slices.Contains(c.Was, here)
}

// merge takes over what others have written since into a document that is older than this one: no pause may get lost.
func (c *clientDoc) merge(older []byte) {
	var there clientDoc
	if len(older) == 0 || json.Unmarshal(older, &there) != nil {
		return
	}
	c.Lost, c.Era = c.Lost || there.Lost, max(c.Era, there.Era)
	for _, p := range there.Pauses {
		if !slices.ContainsFunc(c.Pauses, func(q Pause) bool { return strings.EqualFold(p.Agent, q.Agent) }) {
			c.Pauses = append(c.Pauses, p)
		}
	}
}

func (c *clientDoc) beginEra(now time.Time) { c.Era = max(c.Era+1, now.UnixMilli()) }

// enter makes a change one of a client: it rests on its document from now on.
//
//	here    there                       means
//	none    none                        a new client: it gets an epoch
//	none    x                           another machine was here before: take x
//	x       x, or y that was x          all is well: take it
//	x       none                        lost: it is x again, and lost
//	x       y                           lost: it is y that was x, and lost
//	        older than what was seen    lost in part: what was seen is put back
func (t *Tx) enter(client string) error {
	key, known := keyOf(client, "client"), t.engine.file.of(client)
	here := known.Epoch
	found, err := get[clientDoc](t, key)
	if err != nil {
		return err
	}
	k := t.entry(key).known
	c := clientDoc{}
	if found != nil {
		c = *found
		c.Pauses = slices.Clone(c.Pauses)
	}
	t.of, t.client = client, &c
	switch {
	case found == nil && here == "":
		c.Epoch = rand.Text()
		if c.Pauses, err = t.engine.pauses(t.ctx, t.engine.fetch); err != nil {
			return err
		}
		t.putClient()
	case k.version == "" || c.isLoss(here):
		if k.version != "" {
			c.Was = last(append(slices.Clone(c.Was), here), mostEpochs)
		} else if here != "" {
			c.Epoch = here
			c.Pauses = pick(found == nil, known.Pauses, c.Pauses)
		}
		c.Lost = true
		c.beginEra(t.Now)
		fallthrough
	case k.lost:
		c.merge(k.older)
		t.MarkUnseen(lostUnseen)
		t.putClient()
	}
	t.Unseen, t.Era = c.Unseen, c.Era
	t.done = func() error {
		if c.Lost && (found == nil || !found.Lost) {
			t.engine.log.Error("the store has lost what it knew: conversations are untrusted until serve --accept-loss",
				"client", client)
		}
		return t.engine.file.remember(client, c.Epoch, c.Pauses)
	}
	return nil
}

// putClient writes the client's document. One that is made anew counts as newer than those of before, so that a process
// that remembers one of these takes it, and does not put back what says nothing of a loss.
func (t *Tx) putClient() {
	key := keyOf(t.of, "client")
	t.put(key, t.client, time.Time{})
	if e := t.entry(key); e.known.version == "" {
		e.least = uint64(max(0, t.Now.UnixMilli()))
	}
}

// Paused is the pause that binds an agent's calls; nil: none does. A call that names no agent is bound by any.
func (t *Tx) Paused(agent string) *Pause {
	for _, p := range t.client.Pauses {
		if agent == "" || p.Agent == "" || strings.EqualFold(p.Agent, agent) {
			return &p
		}
	}
	return nil
}

// PausedSince reports whether an agent of the client was paused or resumed after a time, or so shortly before it that
// the clocks of several processes can't say which came first.
func (t *Tx) PausedSince(at time.Time) bool { return t.client.Paused.Add(slack).After(at) }

// MarkUnseen notes that files of the client were written that no person has seen.
func (t *Tx) MarkUnseen(by string) {
	if t.client.Unseen != nil {
		return
	}
	t.client.Unseen = &Mark{Ref: unseenRef(t.of), By: by, At: t.Now}
	t.Unseen = t.client.Unseen
	t.putClient()
}

func unseenRef(client string) string { return Name{Client: client, Key: "(files)"}.Ref() }

// changeClient changes the document of a client.
func (s *Store) changeClient(ctx context.Context, client string, do func(t *Tx)) error {
	return s.engine.change(ctx, func(t *Tx) error {
		if err := t.enter(client); err != nil {
			return err
		}
		do(t)
		return nil
	})
}

// ClearUnseen says that a person has seen the files that the mark with this name is about; false: there is no such
// mark.
func (s *Store) ClearUnseen(ctx context.Context, ref string) (cleared bool, err error) {
	err = s.engine.each(func(client string) error {
		if !strings.EqualFold(unseenRef(client), ref) {
			return nil
		}
		return s.changeClient(ctx, client, func(t *Tx) {
			if cleared = t.client.Unseen != nil; cleared {
				t.client.Unseen = nil
				t.putClient()
			}
		})
	})
	return cleared, err
}

// Pause is the owner's word for an agent, or for all of them, of every client. That all are lifted lifts each.
func (s *Store) Pause(ctx context.Context, p Pause) error { //nolint:gocritic // it is kept
	return s.engine.each(func(client string) error {
		return s.changeClient(ctx, client, func(t *Tx) {
			others := slices.DeleteFunc(slices.Clone(t.client.Pauses), func(q Pause) bool {
				return strings.EqualFold(q.Agent, p.Agent) || p.Agent == "" && !p.On
			})
			if p.On {
				word := p
				word.At = pick(p.At.IsZero(), t.Now, p.At)
				others = append(others, word)
			}
			t.client.Pauses, t.client.Paused = others, t.Now
			t.putClient()
			t.tell("pause")
		})
	})
}

// Pauses are those that are on.
func (s *Store) Pauses(ctx context.Context) ([]Pause, error) {
	return s.engine.pauses(ctx, s.engine.read)
}

// reading is engine.read, or engine.fetch where a change is on its way.
type reading func(ctx context.Context, keys ...string) ([]*known, time.Time, error)

func (e *engine) pauses(ctx context.Context, read reading) (on []Pause, err error) {
	docs, _, _, err := e.readWithClients(ctx, read)
	for _, c := range docs {
		for _, p := range c.Pauses {
			if !slices.ContainsFunc(on, func(q Pause) bool { return strings.EqualFold(p.Agent, q.Agent) }) {
				on = append(on, p)
			}
		}
	}
	return on, err
}

// readWithClients reads documents as they are now, and with them those of all clients; what was lost of these is as it
// was seen.
func (e *engine) readWithClients(
	ctx context.Context, read reading, more ...string,
) (docs map[string]*clientDoc, found []*known, now time.Time, err error) {
	ids := e.clients()
	keys := make([]string, len(ids), len(ids)+len(more))
	for i, id := range ids {
		keys[i] = keyOf(id, "client")
	}
	if found, now, err = read(ctx, append(keys, more...)...); err != nil {
		return nil, nil, now, err
	}
	docs = make(map[string]*clientDoc, len(ids))
	for i, id := range ids {
		c, errClient := decode[clientDoc](found[i])
		docs[id], err = pick(c != nil, c, &clientDoc{}), errors.Join(err, errClient)
		e.cache.put(keys[i], found[i])
	}
	return docs, found[len(ids):], now, err
}

// Forgive lets an agent ("" all of them) ask again: its questions of this hour don't count any more.
func (s *Store) Forgive(ctx context.Context, agent string) error {
	return s.engine.each(func(client string) error {
		return s.changeClient(ctx, client, func(t *Tx) {
			if agent == "" {
				t.client.Forgiven = t.Now
				t.putClient()
				return
			}
			t.put(askedKey(client, agent), &asked{}, t.Now.Add(askedWindow))
		})
	})
}

// Lost names the clients of which the store has lost what it knew, as long as the owner has not accepted that.
func (s *Store) Lost(ctx context.Context) (lost []string, err error) {
	docs, _, _, err := s.engine.readWithClients(ctx, s.engine.read)
	for id, c := range docs {
		if c.Lost || c.isLoss(s.engine.file.of(id).Epoch) {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	return lost, err
}

// patience is how long a start waits: no call does yet, and the first write to a slow disk may take seconds.
const patience = 30 * time.Second

// AcceptLoss is for when the agents' sessions were restarted: a conversation that is not there is a new one again.
// Those that were met since the loss stay as they are.
func (s *Store) AcceptLoss(ctx context.Context) error {
	return s.engine.each(func(client string) error {
		return s.engine.within(ctx, patience, func(t *Tx) error {
			if err := t.enter(client); err != nil {
				return err
			}
			t.client.Lost = false
			t.putClient()
			return nil
		})
	})
}
