package store

import (
	"context"
	"sync"
	"time"
)

// clock is the backend's time, as far as this process has seen it. Between two replies it goes on by what has passed
// here; where that was too little, as on a machine that was asleep, a commit comes too late and is tried again. A reply
// with an earlier time than one that came before it was asked for says that the clock was set back.
type clock struct {
	mu     sync.Mutex
	newest time.Time // the latest reply
	at     time.Time // when it came, by this machine's clock
	lowest time.Time // not zero: to this it was set back, and the cards and grants of before still count
}

// slack is by how much several clocks may differ, and how long a commit may take.
const slack = 2 * time.Second

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest.Add(max(0, time.Since(c.at)))
}

// latest is the time of the latest reply, and that to which the clock was set back; zero: it was not.
func (c *clock) latest() (newest, lowest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest, c.lowest
}

// saw takes note of a reply to what was asked when another was the latest.
func (c *clock) saw(reply, latest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch late := reply.Add(slack); {
	case late.Before(latest) && late.Before(c.newest):
		c.lowest = reply
	case !reply.Before(c.newest):
		c.newest, c.at = reply, time.Now()
	}
}

// check says what time it was before: if that is yet to come, the clock was set back.
func (c *clock) check(before time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before.After(c.newest.Add(slack)) {
		c.lowest = c.newest
	}
}

// follow goes on from the time to which the clock was set back.
func (c *clock) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest, c.at, c.lowest = c.lowest, time.Now(), time.Time{}
}

// timeKey is the document that keeps the time, for those that come later.
var timeKey = keyOf("", "time")

// noteTime keeps the time, and finds out whether it was later before.
func (e *engine) noteTime(t *Tx) {
	newest, _ := e.clock.latest()
	kept := valueOf[time.Time](t, timeKey)
	e.clock.check(kept)
	kept = later(newest, kept)
	put(t, timeKey, &kept, time.Time{})
}

// keepTime keeps the time each second.
func (e *engine) keepTime(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := e.change(ctx, "", e.noteTime); err != nil && ctx.Err() == nil {
			e.o.Log.Debug("the store's time could not be kept", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// prepare finds out what time it is, and deals with a clock that was set back.
func (e *engine) prepare(ctx context.Context) error {
	newest, lowest := e.clock.latest()
	if newest.IsZero() {
		if err := e.attempt(ctx, "", e.noteTime); err != nil {
			return err
		}
		_, lowest = e.clock.latest()
	}
	if lowest.IsZero() || len(e.o.Clients()) == 0 { // who has no clients leaves it to one that has
		return nil
	}
	return e.newEra(ctx)
}

// newEra ends all cards and grants: nobody knows how much time has passed.
func (e *engine) newEra(ctx context.Context) error {
	defer hold(ctx, e.eras)()
	_, lowest := e.clock.latest()
	if lowest.IsZero() {
		return nil // another has dealt with it
	}
	e.o.Log.Error("the store's clock was set back: all cards and grants end", "to", lowest)
	err := each(e.o.Clients(), func(_ int, id string) error {
		return e.attempt(ctx, id, func(t *Tx) { beginEra(t, lowest) })
	})
	if err == nil {
		err = e.attempt(ctx, "", func(t *Tx) { put(t, timeKey, &lowest, time.Time{}) })
	}
	if err == nil {
		e.clock.follow()
	}
	return err
}
