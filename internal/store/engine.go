package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
)

// engine makes changes of documents, and keeps the time.
type engine struct {
	o     *Options
	file  *file
	macs  *sync.Pool
	cache cache
	clock clock
	seed  maphash.Seed
	locks [64]chan struct{} // for those who were not first
	eras  chan struct{}     // held by who begins a new era
}

// entry is a document that a change rests on.
type entry struct {
	key   string
	known *known
	write any // what it is to say; nil: what it says
	until time.Time
	least uint64 // its count is at least this
	once  bool   // it is not worth remembering
	next  *known // what it is once it is written
}

// entry is a document that the change rests on. One that is not remembered is taken to be absent: the commit finds out.
// It is good until the next one is looked for.
func (t *Tx) entry(key string) *entry {
	for i := range t.entries {
		if t.entries[i].key == key {
			return &t.entries[i]
		}
	}
	k := t.seen[key]
	if later := t.engine.cache.get(key, t.Now); k == nil || later != nil && later.count > k.count {
		k = later // others of this process have been here meanwhile
	}
	t.entries = append(t.entries, entry{key: key, known: cmp.Or(k, absent)})
	return &t.entries[len(t.entries)-1]
}

// named is the kind of what is kept by its name: it is put back where the store has lost it.
const named = "n"

// kindOf is what a document is, without whose: names may be secrets.
func kindOf(key string) string {
	_, name, _ := strings.Cut(key, "}:")
	kind, _, _ := strings.Cut(name, "/")
	return kind
}

// get is what a document says, or what it is to say; nil: it is not there. Where it can't be read, the change fails.
func get[T any](t *Tx, key string) *T {
	e := t.entry(key)
	if e.write != nil {
		value, _ := e.write.(*T)
		return value
	}
	value, err := decode[T](e.known)
	t.fail(err)
	if e.known.lost && kindOf(key) == named {
		put(t, key, value, e.known.ends())
	}
	return value
}

// valueOf is what a document says, or the zero value.
func valueOf[T any](t *Tx, key string) (value T) {
	if found := get[T](t, key); found != nil {
		value = *found
	}
	return value
}

// put says what a document is to say, and until when it is kept; zero: for good. The value is not to be changed after
// it.
func put(t *Tx, key string, value any, until time.Time) {
	e := t.entry(key)
	e.write, e.until = value, until
}

// fail makes the change fail, whatever else it says.
func (t *Tx) fail(err error) { t.failed = cmp.Or(t.failed, err) }

// change runs a function until what it rests on still holds, and commits what it says. The last run counts. It is of a
// client; "": of none.
func (e *engine) change(ctx context.Context, client string, run func(t *Tx)) error {
	ctx, cancel := context.WithTimeout(ctx, e.o.Wait)
	defer cancel()
	if err := e.prepare(ctx); err != nil {
		return err
	}
	return e.attempt(ctx, client, run)
}

// ofAll gives what a change of each client finds there, together, and the time.
func ofAll[T any](ctx context.Context, e *engine, find func(t *Tx) []T) ([]T, time.Time, error) {
	ids := e.o.Clients()
	found := make([][]T, len(ids))
	err := each(ids, func(i int, id string) error {
		return e.change(ctx, id, func(t *Tx) { found[i] = find(t) })
	})
	return slices.Concat(found...), e.clock.now(), err
}

// each does something for all clients at the same time.
func each(clients []string, do func(i int, id string) error) error {
	failed := make([]error, len(clients))
	var all sync.WaitGroup
	for i, id := range clients {
		all.Go(func() { failed[i] = do(i, id) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// attempt runs until what a run rests on holds.
func (e *engine) attempt(ctx context.Context, client string, run func(t *Tx)) error {
	var seen map[string]*known
	isAlone, release := false, func() {}
	defer func() { release() }()
	for ctx.Err() == nil {
		t := &Tx{Now: e.clock.now(), ctx: ctx, engine: e, seen: seen}
		if t.entries = t.room[:0]; client != "" {
			enter(t, client)
		}
		if run(t); t.failed != nil {
			return t.failed
		}
		moved, done, err := e.commit(t)
		if done || err != nil {
			return err
		}
		seen = make(map[string]*known, len(t.entries))
		for i := range t.entries {
			seen[t.entries[i].key] = t.entries[i].known
		}
		for i := range moved {
			if seen[moved[i].Key], err = e.learn(&moved[i], seen[moved[i].Key]); err != nil {
				return err
			}
		}
		// From now on this process changes these documents one after the other: others of it had the same in mind.
		if !isAlone && len(moved) > 0 && t.writes() {
			isAlone, release = true, hold(ctx, e.locks[maphash.String(e.seed, moved[0].Key)%uint64(len(e.locks))])
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
}

// hold waits for a lock, as long as it may, and gives what releases it.
func hold(ctx context.Context, lock chan struct{}) (release func()) {
	select {
	case lock <- struct{}{}:
		return func() { <-lock }
	case <-ctx.Done():
		return func() {}
	}
}

func (t *Tx) writes() bool {
	return !t.isVoid && slices.ContainsFunc(t.entries, func(n entry) bool { return n.write != nil })
}

// commit writes what a run says, or only looks whether what it rests on holds. What rests on one reply and writes
// nothing holds: that reply was all of it.
func (e *engine) commit(t *Tx) (moved []Doc, done bool, err error) {
	c := &Commit{Docs: make([]Doc, len(t.entries)), By: t.Now.Add(slack)}
	writes := t.writes()
	holds := !writes
	for i := range t.entries {
		n, d := &t.entries[i], &c.Docs[i]
		d.Key, d.Was = n.key, n.known.version
		holds = holds && t.seen[n.key] == n.known
		if writes && n.write != nil {
			err = errors.Join(err, e.write(t, n, d))
		}
	}
	if err != nil {
		return nil, false, err
	}
	if writes {
		c.Publish = t.publish
	}
	if !holds {
		before, _ := e.clock.latest()
		r, err := e.o.Backend.Commit(t.ctx, c)
		if err != nil {
			return nil, false, fmt.Errorf("store: %w", err)
		}
		if e.clock.saw(r.Now, before); r.Late || len(r.Moved) > 0 {
			return r.Moved, false, nil
		}
	}
	for i := range t.entries { // the backend has confirmed it
		if n := &t.entries[i]; !n.once && (n.next != nil || t.seen[n.key] == n.known) {
			e.cache.put(n.key, cmp.Or(n.next, n.known))
		}
	}
	if writes && t.client != "" {
		err = met(t)
	}
	return nil, true, err
}

// write makes what an entry is to say the document that is written.
func (e *engine) write(t *Tx, n *entry, d *Doc) (err error) {
	n.next = &known{count: max(n.known.count+1, n.least), value: n.write}
	if !n.until.IsZero() {
		n.next.until, d.Keep = n.until.UnixMilli(), max(time.Millisecond, n.until.Sub(t.Now))
	}
	d.Value, err = e.seal(n.key, n.next)
	return err
}

// learn reads a document that came from the backend. What this process had seen newer before it asked is lost; what it
// has seen since then may be newer.
func (e *engine) learn(d *Doc, was *known) (*known, error) {
	k, err := e.unseal(d.Key, d.Value)
	if err != nil {
		e.o.Log.Error("a document in the store does not carry this server's seal: what rests on it is denied",
			"kind", kindOf(d.Key))
		return nil, err
	}
	if was.count < k.count {
		return k, nil
	}
	e.o.Log.Error("the store has lost what this process saw in it", "kind", kindOf(d.Key))
	lost := *was
	lost.version, lost.lost, lost.older = k.version, true, k.text
	e.cache.put(d.Key, &lost)
	return &lost, nil
}
