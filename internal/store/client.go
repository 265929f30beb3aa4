package store

import (
	"cmp"
	"context"
	"crypto/rand"
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
	c.Pauses = withPauses(c.Pauses, there.Pauses)
}

// withPauses adds the pauses of agents that have none.
func withPauses(all, more []Pause) []Pause {
	for _, p := range more {
		if !slices.ContainsFunc(all, func(q Pause) bool { return strings.EqualFold(p.Agent, q.Agent) }) {
			all = append(all, p)
		}
	}
	return all
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
		if c.Pauses, err = t.pausesElsewhere(); err != nil {
			return err
		}
		putClient(t)
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
		putClient(t)
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

// entered is a change of a client, by a function that sees its document.
func entered(client string, run func(t *Tx) error) func(t *Tx) error {
	return func(t *Tx) error {
		if err := t.enter(client); err != nil {
			return err
		}
		return run(t)
	}
}

// pausesElsewhere are those of the other clients, which bind a new one too.
func (t *Tx) pausesElsewhere() (on []Pause, err error) {
	for _, id := range t.engine.clients() {
		k, err := t.engine.look(t.ctx, keyOf(id, "client"))
		if err != nil {
			return nil, err
		}
		c, err := decode[clientDoc](k)
		if err != nil {
			return nil, err
		}
		if c != nil {
			on = withPauses(on, c.Pauses)
		}
	}
	return on, nil
}

// putClient writes the client's document. One that is made anew counts as newer than those of before, so that a process
// that remembers one of these takes it, and does not put back what says nothing of a loss.
func putClient(t *Tx) {
	key := keyOf(t.of, "client")
	put(t, key, t.client, time.Time{})
	if e := t.entry(key); e.known.version == "" {
		e.least = uint64(max(0, t.Now.UnixMilli()))
	}
}

// Paused is the pause that binds an agent's calls; nil: none does. A call that names no agent is bound by any.
func (t *Tx) Paused(agent string) *Pause {
	for i := range t.client.Pauses {
		if p := &t.client.Pauses[i]; agent == "" || p.Agent == "" || strings.EqualFold(p.Agent, agent) {
			return p
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
	putClient(t)
}

func unseenRef(client string) string { return Name{Client: client, Key: "(files)"}.Ref() }

// ClearUnseen says that a person has seen the files that the mark with this name is about; false: there is no such
// mark.
func (s *Store) ClearUnseen(ctx context.Context, ref string) (bool, error) {
	cleared, _, err := ofAll(ctx, s.engine, func(t *Tx) ([]*Mark, error) {
		mark := t.client.Unseen
		if mark == nil || !strings.EqualFold(mark.Ref, ref) {
			return nil, nil
		}
		t.client.Unseen = nil
		putClient(t)
		return []*Mark{mark}, nil
	})
	return len(cleared) > 0, err
}

// Pause is the owner's word for an agent, or for all of them, of every client. That all are lifted lifts each.
func (s *Store) Pause(ctx context.Context, p Pause) error { //nolint:gocritic // it is kept
	return s.engine.each(ctx, func(_ int, t *Tx) error {
		others := slices.DeleteFunc(slices.Clone(t.client.Pauses), func(q Pause) bool {
			return strings.EqualFold(q.Agent, p.Agent) || p.Agent == "" && !p.On
		})
		if p.On {
			word := p
			word.At = pick(p.At.IsZero(), t.Now, p.At)
			others = append(others, word)
		}
		t.client.Pauses, t.client.Paused = others, t.Now
		putClient(t)
		tell(t, "pause")
		return nil
	})
}

// Pauses are those that are on.
func (s *Store) Pauses(ctx context.Context) ([]Pause, error) {
	all, _, err := ofAll(ctx, s.engine, func(t *Tx) ([]Pause, error) { return t.client.Pauses, nil })
	return withPauses(nil, all), err
}

// Forgive lets an agent ("" all of them) ask again: its questions of this hour don't count any more.
func (s *Store) Forgive(ctx context.Context, agent string) error {
	return s.engine.each(ctx, func(_ int, t *Tx) error {
		if agent == "" {
			t.client.Forgiven = t.Now
			putClient(t)
			return nil
		}
		put(t, askedKey(t.of, agent), &asked{}, t.Now.Add(askedWindow))
		return nil
	})
}

// Lost names the clients of which the store has lost what it knew, as long as the owner has not accepted that.
func (s *Store) Lost(ctx context.Context) ([]string, error) {
	lost, _, err := ofAll(ctx, s.engine, func(t *Tx) ([]string, error) {
		return pick(t.client.Lost, []string{t.of}, nil), nil
	})
	return lost, err
}

// patience is how long a start waits: no call does yet, and the first write to a slow disk may take seconds.
const patience = 30 * time.Second

// AcceptLoss is for when the agents' sessions were restarted: a conversation that is not there is a new one again.
// Those that were met since the loss stay as they are.
func (s *Store) AcceptLoss(ctx context.Context) (err error) {
	for _, id := range s.engine.clients() {
		err = cmp.Or(err, s.engine.within(ctx, patience, entered(id, func(t *Tx) error {
			t.client.Lost = false
			putClient(t)
			return nil
		})))
	}
	return err
}
