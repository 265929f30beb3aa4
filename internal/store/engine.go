package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// engine makes changes of documents, and keeps the time.
type engine struct {
	backend Backend
	key     hmac.Key
	clients func() []string
	file    *file
	wait    time.Duration
	log     *slog.Logger
	cache   *cache
	clock   clock
	seed    maphash.Seed
	locks   [64]chan struct{} // for those who were not first
	eras    chan struct{}     // held by who begins a new era
}

// entry is a document that a change rests on.
type entry struct {
	key   string
	known *known
	write any // what it is to say; nil: what it says
	until time.Time
	once  bool   // it is not worth remembering
	least uint64 // its count is at least this
}

// change runs a function until what it rests on still holds, and commits what it says. The last run counts.
func (e *engine) change(ctx context.Context, run func(t *Tx) error) error {
	return e.within(ctx, e.wait, run)
}

func (e *engine) within(ctx context.Context, wait time.Duration, run func(t *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := e.prepare(ctx); err != nil {
		return err
	}
	return e.attempt(ctx, run)
}

// each makes a change of each client, all at the same time.
func (e *engine) each(ctx context.Context, run func(i int, t *Tx) error) error {
	ids := e.clients()
	failed := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { failed[i] = e.change(ctx, entered(id, func(t *Tx) error { return run(i, t) })) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// ofAll gives what a function finds at each client, together, and the time.
func ofAll[T any](ctx context.Context, e *engine, find func(t *Tx) ([]T, error)) ([]T, time.Time, error) {
	found := make([][]T, len(e.clients()))
	err := e.each(ctx, func(i int, t *Tx) (err error) {
		found[i], err = find(t)
		return err
	})
	now, _ := e.clock.now()
	return slices.Concat(found...), now, err
}

// attempt runs until what a run rests on holds.
//
//nolint:gocognit // one loop, with the lock that later runs take
func (e *engine) attempt(ctx context.Context, run func(t *Tx) error) error {
	var alone chan struct{}
	defer func() {
		if alone != nil {
			<-alone
		}
	}()
	var seen map[string]*known
	for ctx.Err() == nil {
		now, _ := e.clock.now()
		t := &Tx{Now: now, ctx: ctx, engine: e, seen: seen, entries: make([]*entry, 0, 4)}
		answer := run(t)
		if t.failed != nil {
			return t.failed
		}
		moved, done, err := e.commit(ctx, t, answer == nil)
		if done || err != nil {
			return cmp.Or(answer, err)
		}
		seen = make(map[string]*known, len(t.entries))
		for _, n := range t.entries {
			seen[n.key] = n.known
		}
		for i := range moved {
			if seen[moved[i].Key], err = e.learn(&moved[i], seen[moved[i].Key]); err != nil {
				return err
			}
		}
		// From now on this process changes these documents one after the other: others of it had the same in mind.
		if alone == nil && len(moved) > 0 {
			alone = e.locks[maphash.String(e.seed, moved[0].Key)%uint64(len(e.locks))]
			select {
			case alone <- struct{}{}:
			case <-ctx.Done():
				alone = nil
			}
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
}

// commit writes what a run says, or with write unset only looks whether what it rests on holds. What rests on one reply
// and writes nothing holds: that reply was all of it.
func (e *engine) commit(ctx context.Context, t *Tx, write bool) (moved []Doc, done bool, err error) {
	c := &Commit{Read: make([]Ref, len(t.entries)), By: t.Now.Add(slack)}
	var written []*known
	holds := true
	for i, n := range t.entries {
		c.Read[i] = Ref{n.key, n.known.version}
		holds = holds && t.seen[n.key] == n.known
		if n.write == nil || !write {
			continue
		}
		k := &known{version: newVersion(), count: max(n.known.count+1, n.least), value: n.write}
		d := Doc{Key: n.key, Version: k.version}
		if !n.until.IsZero() {
			k.until, d.Keep = n.until.UnixMilli(), max(time.Millisecond, n.until.Sub(t.Now))
		}
		if d.Data, err = seal(e.key, n.key, k.version, k.count, k.until, n.write); err != nil {
			return nil, false, err
		}
		k.size = len(d.Data)
		c.Write, written = append(c.Write, d), append(written, k)
	}
	if len(written) > 0 {
		c.Publish = t.publish
	}
	if len(written) > 0 || !holds {
		if r, err := e.send(ctx, c); err != nil || r.Late || len(r.Moved) > 0 {
			return r.Moved, false, err
		}
	}
	e.remember(t, c, written)
	if t.done != nil && len(written) > 0 {
		err = t.done()
	}
	return nil, true, err
}

func (e *engine) send(ctx context.Context, c *Commit) (Result, error) {
	latest, _ := e.clock.latest()
	r, err := e.backend.Commit(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("store: %w", err)
	}
	e.clock.saw(r.Now, latest)
	return r, nil
}

// remember keeps what the backend has confirmed. Requests are met once.
func (e *engine) remember(t *Tx, c *Commit, written []*known) {
	for _, n := range t.entries {
		if !n.once && t.seen[n.key] == n.known {
			e.cache.put(n.key, n.known)
		}
	}
	for i, k := range written {
		if n := t.entry(c.Write[i].Key); !n.once {
			e.cache.put(n.key, k)
		}
	}
}

// learn reads a document that came from the backend. What this process had seen newer before it asked is lost; what it
// has seen since then may be newer.
func (e *engine) learn(d *Doc, was *known) (*known, error) {
	k, err := unseal(e.key, d)
	if err != nil {
		e.log.Error("a document in the store does not carry this server's seal: everything that rests on it is denied",
			"kind", kindOf(d.Key))
		return nil, err
	}
	if was == nil || was.count < k.count || was.count == k.count && was.version == k.version {
		return k, nil
	}
	if was.lost && was.version == k.version {
		return was, nil // it was said
	}
	e.log.Error("the store has lost what this process saw in it", "kind", kindOf(d.Key))
	lost := *was
	lost.version, lost.lost, lost.older = k.version, true, k.data
	e.cache.put(d.Key, &lost)
	return &lost, nil
}

// look reads one document as it is now, outside of any change.
func (e *engine) look(ctx context.Context, key string) (*known, error) {
	latest, _ := e.clock.latest()
	d, was := Doc{Key: key}, e.cache.get(key, latest)
	r, err := e.send(ctx, &Commit{Read: []Ref{{Key: key}}, By: time.UnixMilli(1 << 50)}) // it can't be late
	if err != nil {
		return nil, err
	}
	if len(r.Moved) > 0 {
		d = r.Moved[0]
	}
	return e.learn(&d, was)
}
