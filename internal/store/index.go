package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"
)

// An index names documents, each until some time: the cards that wait and who has grants, for people who look, and the
// conversations with a short name. The first two are spread over 64 documents of a client, so that puts at the same
// moment seldom meet.
type index struct {
	Of []indexed `json:"of,omitzero"`
}

type indexed struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

const (
	openCards = "open"
	granted   = "granted" // conversations by their keys, and agents
	ofKey     = "key "
	ofAgent   = "agent "
	spread    = 64
)

func indexKey(client, kind string, n byte) string {
	return keyOf(client, fmt.Sprintf("%s/%02x", kind, n%spread))
}

func spreadKey(client, kind, name string) string {
	return indexKey(client, kind, sha256.Sum256([]byte(name))[0])
}

func refKey(client, ref string) string { return keyOf(client, "ref/"+ref) }

// enlist puts a name into an index, in the place of what it was there; out of it where its time is over. What nobody
// has put anew stays listed for a while after that: someone has to tell people that it is over.
func enlist(t *Tx, key, name string, until time.Time) error {
	found, err := get[index](t, key)
	if err != nil {
		return err
	}
	var all []indexed
	if found != nil {
		all = slices.DeleteFunc(slices.Clone(found.Of), func(o indexed) bool {
			return o.Name == name || !o.Until.Add(keepCard).After(t.Now)
		})
	}
	if until.After(t.Now) {
		all = append(all, indexed{name, until})
	}
	keep := t.Now.Add(time.Minute)
	for _, o := range all {
		keep = later(keep, o.Until.Add(keepCard))
	}
	put(t, key, &index{all}, keep)
	return nil
}

func later(a, b time.Time) time.Time { return pick(a.After(b), a, b) }

// listed gives all names of a spread index.
func listed(t *Tx, kind string) (all []indexed, err error) {
	for n := range byte(spread) {
		found, err := get[index](t, indexKey(t.of, kind, n))
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, found.Of...)
		}
	}
	return all, nil
}

// mostRead is how many documents a look rests on: a script of Redis takes no more than 8,000.
const mostRead = 500

// ofListed gives what a function finds for each name of a spread index, together, and the time.
func ofListed[T any](
	ctx context.Context, e *engine, kind string, find func(t *Tx, name string) ([]T, error),
) (all []T, now time.Time, err error) {
	names, now, err := ofAll(ctx, e, func(t *Tx) (names []Name, err error) {
		found, err := listed(t, kind)
		for _, one := range found {
			names = append(names, Name{t.of, one.Name})
		}
		return names, err
	})
	for some := range slices.Chunk(names, mostRead) {
		found, at, errFound := ofAll(ctx, e, func(t *Tx) (found []T, err error) {
			for _, n := range some {
				if n.Client == t.of {
					here, errHere := find(t, n.Key)
					found, err = append(found, here...), errors.Join(err, errHere)
				}
			}
			return found, err
		})
		all, now, err = append(all, found...), at, errors.Join(err, errFound)
	}
	return all, now, err
}
