package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
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
	cache   cache
	clock   clock
	locks   locks
	eras    chan struct{} // held by who begins a new era
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
	seen := map[string]*known(nil)
	for ctx.Err() == nil {
		now, _ := e.clock.now()
		t := &Tx{Now: now, ctx: ctx, engine: e, seen: seen}
		answer := run(t)
		if t.failed != nil {
			return t.failed
		}
		moved, done, err := e.commit(ctx, t, answer == nil)
		if done || err != nil {
			return cmp.Or(answer, err)
		}
		if seen == nil {
			seen = map[string]*known{}
		}
		for i := range moved {
			if seen[moved[i].Key], err = e.learn(&moved[i], t.entry(moved[i].Key).known); err != nil {
				return err
			}
		}
		// From now on this process changes these documents one after the other: others of it had the same in mind.
		if alone == nil && len(moved) > 0 {
			alone = e.locks.of(moved[0].Key)
			select {
			case alone <- struct{}{}:
			case <-ctx.Done():
				alone = nil
			}
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
}

// commit writes what a run says, or with write unset only looks whether what it rests on holds.
func (e *engine) commit(ctx context.Context, t *Tx, write bool) (moved []Doc, done bool, err error) {
	if len(t.entries) == 0 {
		return nil, true, nil
	}
	c := &Commit{Read: make([]Ref, len(t.entries)), By: t.Now.Add(slack)}
	var written []*known
	for i, n := range t.entries {
		c.Read[i] = Ref{n.key, n.known.version}
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
	if len(c.Write) > 0 {
		c.Publish = t.publish
	}
	before, turn := e.clock.asking()
	r, err := e.backend.Commit(ctx, c)
	if err != nil {
		return nil, false, fmt.Errorf("store: %w", err)
	}
	e.clock.saw(r.Now, before, turn)
	if r.Late || len(r.Moved) > 0 {
		return r.Moved, false, nil
	}
	e.remember(t, c, written)
	if t.done != nil && len(c.Write) > 0 {
		err = t.done()
	}
	return nil, true, err
}

// remember keeps what a commit has confirmed. Requests are met once.
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

// read reads documents as they are now, once the time is known.
func (e *engine) read(ctx context.Context, keys ...string) ([]*known, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, e.wait)
	defer cancel()
	if err := e.prepare(ctx); err != nil {
		return nil, time.Time{}, err
	}
	return e.fetch(ctx, keys...)
}

func (e *engine) fetch(ctx context.Context, keys ...string) ([]*known, time.Time, error) {
	before, turn := e.clock.asking()
	was := make([]*known, len(keys))
	for i, key := range keys {
		was[i] = e.cache.get(key, before)
	}
	docs, now, err := e.backend.Get(ctx, keys...)
	if err != nil {
		return nil, now, fmt.Errorf("store: %w", err)
	}
	e.clock.saw(now, before, turn)
	found := make([]*known, len(docs))
	for i := range docs {
		if found[i], err = e.learn(&docs[i], was[i]); err != nil {
			return nil, now, err
		}
	}
	return found, now, nil
}

// timeOf is the document that keeps the time.
type timeOf struct {
	At time.Time `json:"at"`
}

var timeKey = keyOf("", "time")

// prepare finds out what time it is and what is known of each client, and deals with a clock that was set back.
func (e *engine) prepare(ctx context.Context) error {
	if _, fresh := e.clock.now(); !fresh {
		_, found, now, err := e.readWithClients(ctx, e.fetch, timeKey)
		if err != nil {
			return err
		}
		kept, err := decode[timeOf](found[0])
		if err != nil {
			return err
		}
		if kept != nil && kept.At.After(now.Add(slack)) {
			e.clock.setBack(now)
		}
	}
	if _, behind := e.clock.isBehind(); behind {
		return e.newEra(ctx)
	}
	return nil
}

// newEra ends all cards and grants: nobody knows how much time has passed.
func (e *engine) newEra(ctx context.Context) error {
	select {
	case e.eras <- struct{}{}:
		defer func() { <-e.eras }()
	case <-ctx.Done():
		return ctx.Err()
	}
	lowest, behind := e.clock.isBehind()
	if !behind {
		return nil // another has dealt with it
	}
	e.log.Error("the store's clock was set back: all cards and grants end", "to", lowest)
	for _, id := range e.clients() {
		err := e.attempt(ctx, func(t *Tx) error {
			if err := t.enter(id); err != nil {
				return err
			}
			t.client.beginEra(lowest)
			t.putClient()
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := e.attempt(ctx, func(t *Tx) error {
		t.put(timeKey, &timeOf{lowest},
			time.Time{})
		return nil
	}); err != nil {
		return err
	}
	e.clock.follow()
	return nil
}

// keepTime keeps the time, for those that come later.
func (e *engine) keepTime(ctx context.Context) error {
	var kept *timeOf
	err := e.change(ctx, func(t *Tx) (err error) {
		newest, _ := e.clock.asking()
		if kept, err = get[timeOf](t, timeKey); err == nil && (kept == nil || kept.At.Before(newest)) {
			t.put(timeKey, &timeOf{newest}, time.Time{})
		}
		return err
	})
	// Another process has seen a later time than it is now: the next change deals with that.
	if newest, _ := e.clock.asking(); err == nil && kept != nil && kept.At.After(newest.Add(slack)) {
		e.clock.setBack(newest)
	}
	return err
}

// locks are for those who were not first.
type locks struct {
	seed maphash.Seed
	some [64]chan struct{}
}

func newLocks() (l locks) {
	l.seed = maphash.MakeSeed()
	for i := range l.some {
		l.some[i] = make(chan struct{}, 1)
	}
	return l
}

func (l *locks) of(key string) chan struct{} {
	return l.some[maphash.String(l.seed, key)%uint64(len(l.some))]
}

// each calls do for each client, all at the same time.
func (e *engine) each(do func(client string) error) error {
	ids := e.clients()
	failed := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { failed[i] = do(id) })
	}
	all.Wait()
	return errors.Join(failed...)
}
