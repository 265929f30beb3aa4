package store

import (
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
	Era      int64     `json:"era,omitzero"`      // cards and grants of another one have ended: a clock was set back
	Pauses   []Pause   `json:"pauses,omitzero"`   // those that are on
	Paused   time.Time `json:"paused,omitzero"`   // when an agent was last paused or resumed
	Forgiven time.Time `json:"forgiven,omitzero"` // questions of before don't count
	Unseen   *Mark     `json:"unseen,omitzero"`
	Declared []string  `json:"declared,omitzero"` // see [Tx.Declare]
}

const (
	mostEpochs   = 16
	mostDeclared = 64
	everyTool    = "*"
)

// merge takes over what others have written since into a document that is older than this one: no pause may get lost.
func (c *clientDoc) merge(older []byte) {
	var there clientDoc
	if len(older) == 0 || json.Unmarshal(older, &there) != nil {
		return
	}
	c.Lost, c.Era = c.Lost || there.Lost, max(c.Era, there.Era)
	c.Pauses = withPauses(c.Pauses, there.Pauses)
	c.Declared = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Declared, there.Declared))))
}

// withPauses adds the pauses of agents that have none.
func withPauses(all, more []Pause) []Pause {
	for _, p := range more {
		if !slices.ContainsFunc(all, func(q Pause) bool { return strings.EqualFold(p.Agent, q.Agent) }) {
			all = append(slices.Clip(all), p)
		}
	}
	return all
}

// enter makes a change rest on its client's document.
//
//	here    there                       means
//	none    none                        a new client: it gets an epoch
//	none    x                           another machine was here before: take x
//	x       x, or y that was x          all is well: take it
//	x       none                        lost: it is x again, and lost
//	x       y                           lost: it is y that was x, and lost
//	        older than what was seen    lost in part: what was seen is put back
func enter(t *Tx, client string) {
	key, here, c := keyOf(client, "client"), t.engine.file.of(client), &t.doc
	t.client = client
	found := get[clientDoc](t, key)
	k := t.entry(key).known
	if found != nil {
		*c = *found
	}
	isGone := k.version == ""
	isOther := !isGone && here.Epoch != "" && here.Epoch != c.Epoch && !slices.Contains(c.Was, here.Epoch)
	switch {
	case found == nil && here.Epoch == "":
		c.Epoch, c.Pauses = rand.Text(), pausesElsewhere(t)
		putClient(t)
		return
	case found == nil:
		c.Epoch, c.Pauses = here.Epoch, here.Pauses
	case isOther:
		c.Was = last(append(slices.Clone(c.Was), here.Epoch), mostEpochs)
	}
	if isGone || isOther {
		t.isLoss, c.Lost = !c.Lost, true
		beginEra(t, t.Now)
	}
	if isGone || isOther || k.lost {
		c.merge(k.older)
		t.MarkUnseen(lostUnseen)
		putClient(t)
	}
}

// met keeps outside the store what a commit has shown of it.
func met(t *Tx) error {
	if t.isLoss {
		t.engine.o.Log.Error("the store has lost what it knew: conversations are untrusted until serve --accept-loss",
			"client", t.client)
	}
	return t.engine.file.remember(t.client, t.doc.Epoch, t.doc.Pauses)
}

// pausesKey is where the pauses stand that bind a new client too.
var pausesKey = nameKey("pauses", "")

func pausesElsewhere(t *Tx) (on []Pause) {
	t.fail(t.engine.attempt(t.ctx, "", func(t *Tx) { on = valueOf[[]Pause](t, pausesKey) }))
	return on
}

// putClient writes the client's document. One that is made anew counts as newer than those of before, so that a process
// that remembers one of these takes it, and does not put back what says nothing of a loss.
func putClient(t *Tx) {
	key, c := keyOf(t.client, "client"), t.doc
	put(t, key, &c, time.Time{})
	if e := t.entry(key); e.known.version == "" {
		e.least = uint64(max(0, t.Now.UnixMilli()))
	}
}

// beginEra ends the client's cards and grants.
func beginEra(t *Tx, now time.Time) {
	t.doc.Era = max(t.doc.Era+1, now.UnixMilli())
	putClient(t)
}

// Paused is the pause that binds an agent's calls; nil: none does. A call that names no agent is bound by any.
func (t *Tx) Paused(agent string) *Pause {
	for i := range t.doc.Pauses {
		if p := &t.doc.Pauses[i]; agent == "" || p.Agent == "" || strings.EqualFold(p.Agent, agent) {
			return p
		}
	}
	return nil
}

// PausedSince reports whether an agent of the client was paused or resumed after a time, or so shortly before it that
// the clocks of several processes can't say which came first.
func (t *Tx) PausedSince(at time.Time) bool { return t.doc.Paused.Add(slack).After(at) }

// MarkUnseen notes that files of the client were written that no person has seen.
func (t *Tx) MarkUnseen(by string) {
	if t.doc.Unseen == nil {
		t.doc.Unseen = &Mark{Ref: Name{Client: t.client, Key: "(files)"}.Ref(), By: by, At: t.Now}
		putClient(t)
	}
	t.Unseen = t.doc.Unseen
}

// Declare notes that a tool of the client says of itself that its results need caution. Beyond the most that are kept,
// all tools count as having said it.
func (t *Tx) Declare(tool string) {
	if t.Declares(tool) {
		return
	}
	if len(t.doc.Declared) >= mostDeclared {
		tool = everyTool
	}
	t.doc.Declared = append(slices.Clip(t.doc.Declared), tool)
	putClient(t)
}

// Declares reports whether a tool has said it.
func (t *Tx) Declares(tool string) bool {
	return slices.Contains(t.doc.Declared, tool) || slices.Contains(t.doc.Declared, everyTool)
}

// DeclaresAny reports whether any has.
func (t *Tx) DeclaresAny() bool { return len(t.doc.Declared) > 0 }

// ClearUnseen says that a person has seen the files that the mark with this name is about; false: there is no such
// mark.
func (s *Store) ClearUnseen(ctx context.Context, ref string) (bool, error) {
	cleared, _, err := ofAll(ctx, s.engine, func(t *Tx) []*Mark {
		mark := t.doc.Unseen
		if mark == nil || !strings.EqualFold(mark.Ref, ref) {
			return nil
		}
		t.doc.Unseen = nil
		putClient(t)
		return []*Mark{mark}
	})
	return len(cleared) > 0, err
}

// Pause is the owner's word for an agent, or for all of them, of every client. Who may go on may ask again: the
// questions of this hour don't count any more. That all may lifts each pause.
func (s *Store) Pause(ctx context.Context, p Pause) error { //nolint:gocritic // it is kept
	set := func(t *Tx, on []Pause) []Pause {
		on = those(on, func(q *Pause) bool { return !strings.EqualFold(q.Agent, p.Agent) && (p.Agent != "" || p.On) })
		if !p.On {
			return on
		}
		return append(slices.Clip(on), Pause{Agent: p.Agent, On: true, By: p.By, At: pick(p.At.IsZero(), t.Now, p.At)})
	}
	if err := s.change(ctx, "", func(t *Tx) {
		on := set(t, valueOf[[]Pause](t, pausesKey))
		put(t, pausesKey, &on, time.Time{})
	}); err != nil {
		return err
	}
	_, _, err := ofAll(ctx, s.engine, func(t *Tx) []Pause {
		t.doc.Pauses, t.doc.Paused = set(t, t.doc.Pauses), t.Now
		if p.Agent == "" && !p.On {
			t.doc.Forgiven = t.Now
		} else if !p.On {
			putTimes(t, askedKey(t.client, p.Agent), nil, askedWindow)
		}
		putClient(t)
		tell(t, "pause")
		return nil
	})
	return err
}

// Pauses are those that are on.
func (s *Store) Pauses(ctx context.Context) ([]Pause, error) {
	all, _, err := ofAll(ctx, s.engine, func(t *Tx) []Pause { return t.doc.Pauses })
	return withPauses(nil, all), err
}

// Lost names the clients of which the store has lost what it knew, as long as the owner has not accepted that.
func (s *Store) Lost(ctx context.Context) ([]string, error) {
	lost, _, err := ofAll(ctx, s.engine, func(t *Tx) []string { return pick(t.doc.Lost, []string{t.client}, nil) })
	return lost, err
}

// AcceptLoss is for when the agents' sessions were restarted: a conversation that is not there is a new one again.
// Those that were met since the loss stay as they are.
func (s *Store) AcceptLoss(ctx context.Context) (err error) {
	for range 20 { // no call waits yet, and the first write to a slow disk may take seconds
		_, _, err = ofAll(ctx, s.engine, func(t *Tx) []string {
			t.doc.Lost = false
			putClient(t)
			return nil
		})
		if err == nil {
			break
		}
	}
	return err
}
