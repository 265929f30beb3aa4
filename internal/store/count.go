package store

import (
	"context"
	"slices"
	"time"
)

// What belongs to no client is kept by its name: counts, leases, small texts. What the store has lost of these is put
// back as this process saw it. An end that lies further off than it can was written before the clock was set back.

func nameKey(kind, name string) string { return keyOf("", "n/"+hash(kind+" "+name)) }

type counted struct {
	N     int       `json:"n"`
	Until time.Time `json:"until"`
}

// Count is how often a thing has happened within a window, which begins with the first time; add counts one more.
func (s *Store) Count(ctx context.Context, name string, window time.Duration, add bool) (n int, err error) {
	key := nameKey("count", name)
	err = s.engine.change(ctx, func(t *Tx) error {
		found, err := get[counted](t, key)
		if err != nil {
			return err
		}
		c := counted{Until: t.Now.Add(window)}
		ahead := found != nil && found.Until.After(c.Until.Add(slack))
		switch {
		case ahead:
			c.N = found.N
		case found != nil && found.Until.After(t.Now):
			c = *found
		}
		if add {
			c.N++
		}
		if add || ahead {
			put(t, key, &c, c.Until)
		}
		n = c.N
		return nil
	})
	return n, err
}

type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// Lease takes or keeps what one holder may have at a time, and reports whether it has it; for no time, it is given up.
func (s *Store) Lease(ctx context.Context, name, holder string, keep time.Duration) (has bool, err error) {
	key := nameKey("lease", name)
	err = s.engine.change(ctx, func(t *Tx) error {
		found, err := get[lease](t, key)
		if err != nil {
			return err
		}
		until := t.Now.Add(keep)
		has = found == nil || found.Holder == holder || !found.Until.After(t.Now) ||
			keep > 0 && found.Until.After(until.Add(slack))
		if has {
			put(t, key, &lease{holder, until}, until)
		}
		return nil
	})
	return has, err
}

type text struct {
	Data []byte `json:"data"`
}

// Keep keeps a small text under a name for good.
func (s *Store) Keep(ctx context.Context, name string, data []byte) error {
	data = slices.Clone(data)
	return s.engine.change(ctx, func(t *Tx) error {
		put(t, nameKey("text", name), &text{data}, time.Time{})
		return nil
	})
}

// Kept is what was kept last under a name; nil: nothing was.
func (s *Store) Kept(ctx context.Context, name string) (data []byte, err error) {
	err = s.engine.change(ctx, func(t *Tx) error {
		found, err := get[text](t, nameKey("text", name))
		data = nil
		if found != nil {
			data = found.Data
		}
		return err
	})
	return data, err
}
