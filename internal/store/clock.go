package store

import (
	"sync"
	"time"
)

// clock is the backend's time, as far as this process has seen it. Between two replies it goes on by what has passed
// here. A reply with an earlier time than one that came before it was asked for says that the clock was set back.
type clock struct {
	mu     sync.Mutex
	newest time.Time // the latest reply
	at     time.Time // when it came, by this machine's clock
	lowest time.Time // where it was set back: the last reply
	behind bool      // it was set back, and the cards and grants of before still count
	turn   int       // how often it was set back
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
	fresh = !c.newest.IsZero() && !c.behind && passed < freshReply && (passed-shown).Abs() < slack
	return c.newest.Add(max(0, passed)), fresh
}

// asking is to be called before a round trip, and its results to be given to saw.
func (c *clock) asking() (newest time.Time, turn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest, c.turn
}

// saw takes note of a reply.
func (c *clock) saw(reply, before time.Time, turn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case turn != c.turn:
	case reply.Add(slack).Before(before):
		c.behind, c.lowest = true, reply
	case !reply.Before(c.newest):
		c.newest, c.at = reply, time.Now()
	}
}

// setBack says that the clock is behind what was kept.
func (c *clock) setBack(reply time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.behind, c.lowest = true, reply
}

// isBehind reports whether cards and grants still count that were given before the clock was set back, and to when.
func (c *clock) isBehind() (lowest time.Time, behind bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lowest, c.behind
}

// follow goes on from the time to which the clock was set back.
func (c *clock) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest, c.at, c.behind = c.lowest, time.Now(), false
	c.turn++
}
