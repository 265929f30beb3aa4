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

// times is when a thing happened, in Unix milliseconds.
type times struct {
	At []int64 `json:"at,omitzero"`
}

// mostTimes is more than anything is counted to.
const mostTimes = 1100

// happened is when a thing happened within a window before now. What is yet to come happened before the clock was set
// back: from now on it counts as what happens now.
func happened(t *Tx, key string, window time.Duration) (at []int64) {
	found, isAhead := get[times](t, key), false
	if found == nil {
		return nil
	}
	for _, one := range found.At {
		if one > t.Now.Add(slack).UnixMilli() {
			one, isAhead = t.Now.UnixMilli(), true
		}
		if one > t.Now.Add(-window).UnixMilli() {
			at = append(at, one)
		}
	}
	if isAhead {
		put(t, key, &times{at}, t.Now.Add(window))
	}
	return at
}

// happens adds to what happened.
func happens(t *Tx, key string, window time.Duration, at []int64) {
	put(t, key, &times{last(append(slices.Clip(at), t.Now.UnixMilli()), mostTimes)}, t.Now.Add(window))
}

// Count is how often a thing has happened within a window; add counts one more.
func (s *Store) Count(ctx context.Context, name string, window time.Duration, add bool) (n int, err error) {
	key := nameKey("count", name)
	err = s.change(ctx, "", func(t *Tx) {
		at := happened(t, key, window)
		if n = len(at); add {
			n++
			happens(t, key, window, at)
		}
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
		put(t, key, &times{at[:max(0, n-1)]}, t.Now.Add(askedWindow))
	case n >= most:
		return false
	default:
		happens(t, key, askedWindow, at)
	}
	return true
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

type text struct {
	Data []byte `json:"data"`
}

// Keep keeps a small text under a name for good.
func (s *Store) Keep(ctx context.Context, name string, data []byte) error {
	kept := &text{slices.Clone(data)}
	return s.change(ctx, "", func(t *Tx) { put(t, nameKey("text", name), kept, time.Time{}) })
}

// Kept is what was kept last under a name; nil: nothing was.
func (s *Store) Kept(ctx context.Context, name string) (data []byte, err error) {
	err = s.change(ctx, "", func(t *Tx) {
		found := get[text](t, nameKey("text", name))
		if data = nil; found != nil {
			data = found.Data
		}
	})
	return data, err
}
