package store

import (
	"context"
	"sync"
	"time"
)

// clock is the backend's time, as far as this process has seen it. Between two replies it goes on by what has passed
// here. A reply with an earlier time than one that came before it was asked for says that the clock was set back.
type clock struct {
	mu     sync.Mutex
	newest time.Time // the latest reply
	at     time.Time // when it came, by this machine's clock
	lowest time.Time // not zero: to this it was set back, and the cards and grants of before still count
}

const (
	slack      = 2 * time.Second  // several clocks may differ by so much, and a commit may take so long
	freshReply = 10 * time.Second // for how long a reply says what time it is
)

// now is the time, and whether it can be relied on: not after a long silence, and not where this machine was asleep.
func (c *clock) now() (now time.Time, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := time.Now()
	passed, shown := local.Sub(c.at), local.Round(0).Sub(c.at.Round(0))
	fresh = !c.newest.IsZero() && c.lowest.IsZero() && passed < freshReply && (passed-shown).Abs() < slack
	return c.newest.Add(max(0, passed)), fresh
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

// check says what time was kept: if it is yet to come, the clock was set back.
func (c *clock) check(kept time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept.After(c.newest.Add(slack)) {
		c.lowest = c.newest
	}
}

// follow goes on from the time to which the clock was set back.
func (c *clock) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest, c.at, c.lowest = c.lowest, time.Now(), time.Time{}
}

// timeOf is the document that keeps the time, for those that come later.
type timeOf struct {
	At time.Time `json:"at"`
}

var timeKey = keyOf("", "time")

// prepare finds out what time it is, and deals with a clock that was set back.
func (e *engine) prepare(ctx context.Context) error {
	if _, fresh := e.clock.now(); !fresh {
		found, err := e.look(ctx, timeKey)
		if err != nil {
			return err
		}
		kept, err := decode[timeOf](found)
		if err != nil {
			return err
		}
		if kept != nil {
			e.clock.check(kept.At)
		}
	}
	if _, lowest := e.clock.latest(); !lowest.IsZero() {
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
	_, lowest := e.clock.latest()
	if lowest.IsZero() {
		return nil // another has dealt with it
	}
	e.log.Error("the store's clock was set back: all cards and grants end", "to", lowest)
	for _, id := range e.clients() {
		if err := e.attempt(ctx, entered(id, func(t *Tx) error {
			t.client.beginEra(lowest)
			putClient(t)
			return nil
		})); err != nil {
			return err
		}
	}
	if err := e.attempt(ctx, func(t *Tx) error {
		put(t, timeKey, &timeOf{lowest}, time.Time{})
		return nil
	}); err != nil {
		return err
	}
	e.clock.follow()
	return nil
}

// keepTime keeps the time each second.
func (e *engine) keepTime(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		var kept *timeOf
		err := e.change(ctx, func(t *Tx) (err error) {
			newest, _ := e.clock.latest()
			if kept, err = get[timeOf](t, timeKey); err == nil && (kept == nil || kept.At.Before(newest)) {
				put(t, timeKey, &timeOf{newest}, time.Time{})
			}
			return err
		})
		if err == nil && kept != nil {
			e.clock.check(kept.At) // another process may have seen a later time than it is now
		} else if err != nil && ctx.Err() == nil {
			e.log.Debug("the store's time could not be kept", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
