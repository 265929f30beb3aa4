package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// What belongs to no client is kept by its name: counts, leases, small texts. What the store has lost of these is put
// back as this process saw it. An end that lies further off than it can was written before the clock was set back.

func nameKey(kind, name string) string { return keyOf("", named, "/", hashOf(kind+" "+name)) }

// mostTimes is more than anything is counted to.
const mostTimes = 1100

// happened is when a thing happened within a window before now, in Unix milliseconds. What is yet to come happened
// before the clock was set back: from now on it counts as what happens now.
func happened(t *Tx, key string, window time.Duration) (at []int64) {
	isAhead := false
	for _, one := range valueOf[[]int64](t, key) {
		if one > t.Now.Add(slack).UnixMilli() {
			one, isAhead = t.Now.UnixMilli(), true
		}
		if one > t.Now.Add(-window).UnixMilli() {
			at = append(at, one)
		}
	}
	if isAhead {
		putTimes(t, key, at, window)
	}
	return at
}

func putTimes(t *Tx, key string, at []int64, window time.Duration) {
	at = last(slices.Clone(at), mostTimes)
	put(t, key, &at, t.Now.Add(window))
}

// Count is how often a thing has happened within a window; add counts one more.
func (s *Store) Count(ctx context.Context, name string, window time.Duration, add bool) (n int, err error) {
	key := nameKey("count", name)
	err = s.change(ctx, "", func(t *Tx) {
		at := happened(t, key, window)
		if add {
			at = append(at, t.Now.UnixMilli())
			putTimes(t, key, at, window)
		}
		n = len(at)
	})
	return n, err
}

const askedWindow = time.Hour

func askedKey(client, agent string) string {
	return keyOf(client, named, "/", hashOf("asked "+strings.ToLower(agent)))
}

// Prompted counts one more question of the agent in this hour, if there is room for it. Where most is negative it takes
// the last one back.
func (t *Tx) Prompted(agent string, most int) (ok bool) {
	key := askedKey(t.client, agent)
	at := happened(t, key, askedWindow)
	at = slices.DeleteFunc(at, func(one int64) bool { return one <= t.doc.Forgiven.UnixMilli() })
	switch n := len(at); {
	case most < 0:
		at = at[:max(0, n-1)]
	case n >= most:
		return false
	default:
		at = append(at, t.Now.UnixMilli())
	}
	putTimes(t, key, at, askedWindow)
	return true
}

const noteWindow = 24 * time.Hour

func noteKey(client, what string) string { return keyOf(client, named, "/", hashOf("note "+what)) }

// Noted reports whether something of the client was noted within a day, and is not over.
func (t *Tx) Noted(what string) bool {
	return len(happened(t, noteKey(t.client, what), noteWindow)) > 0
}

// Note notes something of the client, or that it is over.
func (t *Tx) Note(what string, on bool) {
	putTimes(t, noteKey(t.client, what), pick(on, []int64{t.Now.UnixMilli()}, nil), noteWindow)
}

type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// Lease takes or keeps what one holder may have at a time, and reports whether it has it; for no time, it is given up.
func (s *Store) Lease(ctx context.Context, name, holder string, keep time.Duration) (has bool, err error) {
	key := nameKey("lease", name)
	err = s.change(ctx, "", func(t *Tx) {
		found, until := get[lease](t, key), t.Now.Add(keep)
		has = found == nil || found.Holder == holder || !found.Until.After(t.Now) ||
			keep > 0 && found.Until.After(until.Add(slack))
		if has {
			put(t, key, &lease{holder, until}, until)
		}
	})
	return has && err == nil, err
}

// Keep keeps a small text under a name for good.
func (s *Store) Keep(ctx context.Context, name string, data []byte) error {
	data = slices.Clone(data)
	return s.change(ctx, "", func(t *Tx) { put(t, nameKey("text", name), &data, time.Time{}) })
}

// Kept is what was kept last under a name; nil: nothing was.
func (s *Store) Kept(ctx context.Context, name string) (data []byte, err error) {
	err = s.change(ctx, "", func(t *Tx) { data = valueOf[[]byte](t, nameKey("text", name)) })
	return data, err
}
