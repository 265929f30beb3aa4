// Package storetest is the suite that every backend of package store passes, and the faults that it passes them with.
// It is for tests only.
package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// Faults is a backend that fails as a test says. Each Store on it is a process of its own: they share what it keeps.
type Faults struct {
	store.Backend

	mu     sync.Mutex
	docs   map[string][]byte // as they were written last
	fault  Fault
	ahead  time.Duration // by which the clock is set
	trips  int
	writes int
}

// Fault is how a commit fails.
type Fault int

// The faults.
const (
	None      Fault = iota
	Hang            // nothing answers
	Refuse          // nothing may be written
	LoseReply       // it is written, and the answer is lost
)

var errFault = errors.New("storetest: a fault")

// Set says how commits fail from now on.
func (f *Faults) Set(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// SetClock sets the clock so far ahead; behind where negative.
func (f *Faults) SetClock(ahead time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead = ahead
}

// Used gives the trips and the documents written since it was asked last.
func (f *Faults) Used() (trips, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	trips, writes, f.trips, f.writes = f.trips, f.writes, 0, 0
	return trips, writes
}

func (f *Faults) now() (Fault, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trips++
	return f.fault, f.ahead
}

// Commit implements store.Backend.
func (f *Faults) Commit(ctx context.Context, c *store.Commit) (store.Result, error) {
	fault, ahead := f.now()
	shifted := *c
	shifted.By = c.By.Add(-ahead)
	writes := slices.ContainsFunc(c.Docs, func(d store.Doc) bool { return d.Value != nil })
	switch {
	case fault == Hang:
		<-ctx.Done()
		return store.Result{}, ctx.Err()
	case fault == Refuse && writes:
		return store.Result{}, errFault
	}
	r, err := f.Backend.Commit(ctx, &shifted)
	r.Now = r.Now.Add(ahead)
	if err == nil && len(r.Moved) == 0 && !r.Late {
		f.note(shifted.Docs)
		if fault == LoseReply && writes {
			return store.Result{}, errFault
		}
	}
	return r, err
}

func (f *Faults) note(docs []store.Doc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.docs == nil {
		f.docs = map[string][]byte{}
	}
	for _, d := range docs {
		if d.Value != nil {
			f.docs[d.Key] = d.Value
			f.writes++
		}
	}
}

// Close does nothing: other stores use it too.
func (f *Faults) Close() error { return nil }

// Snapshot is all that is kept, as it was written last.
func (f *Faults) Snapshot() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.docs)
}

// Restore puts documents back as they were in a snapshot, and takes away those that were not there. Only says which;
// nil: all.
func (f *Faults) Restore(ctx context.Context, snapshot map[string][]byte, only func(key string) bool) error {
	for key := range f.Snapshot() {
		if only != nil && !only(key) {
			continue
		}
		if err := f.Put(ctx, key, snapshot[key]); err != nil {
			return err
		}
	}
	return nil
}

// Put writes a document as it is, as whoever has the store's password can.
func (f *Faults) Put(ctx context.Context, key string, value []byte) error {
	if value == nil {
		value = []byte{} // to a store that is as if it were not there
	}
	was := ""
	for {
		c := store.Commit{Docs: []store.Doc{{Key: key, Was: was, Value: value}}, By: time.Now().Add(time.Hour)}
		r, err := f.Backend.Commit(ctx, &c)
		if err != nil || len(r.Moved) == 0 {
			return err
		}
		was = store.VersionOf(r.Moved[0].Value)
	}
}
