package store

import (
	"fmt"
	"sync"
	"time"
)

// Clock is the time by which a store ends what it holds. It follows a clock that
// people and machines may set, and it never goes back: a grant for a minute ends
// after a minute, also where that clock is an hour behind by then. While the other
// clock is behind, time goes on by what has passed in this process.
//
// It goes on a thousandth slower than that. Two clocks that are not set drift
// apart by less, so the other one, as long as it is right, is the one that counts.
type Clock struct {
	elapsed func() time.Duration
	stepped func(by time.Duration)

	mu     sync.Mutex
	latest time.Time
	at     time.Duration // what had passed then
	behind bool          // the other clock is
}

// Slack is how far behind the other clock must be for it to have been set back. By
// less it may be one of several that differ a little, or have been put right: the
// time then goes on from what was seen last, and nothing has to end.
const Slack = 2 * time.Second

// NewClock makes a clock. Elapsed is time that passes whatever a clock is set to,
// from any beginning; nil means the process's own. Stepped is called when the
// other clock is found to have been set back; it may be nil.
func NewClock(elapsed func() time.Duration, stepped func(by time.Duration)) *Clock {
	if elapsed == nil {
		began := time.Now()
		elapsed = func() time.Duration { return time.Since(began) }
	}
	if stepped == nil {
		stepped = func(time.Duration) {}
	}
	return &Clock{elapsed: elapsed, stepped: stepped}
}

// Now is the time where the other clock shows this.
func (c *Clock) Now(reading time.Time) time.Time {
	now, by := c.advance(reading)
	if by > 0 {
		c.stepped(by)
	}
	return now
}

func (c *Clock) advance(reading time.Time) (now time.Time, by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	floor := c.floor()
	late := floor.Sub(reading)
	if late > Slack && !c.behind {
		by = late
	}
	c.behind = late > Slack
	if now = floor; late < 0 {
		now = reading
	}
	c.latest, c.at = now, c.elapsed()
	return now, by
}

// Saw takes note of a time that this clock, or another process's, has given.
func (c *Clock) Saw(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.floor()) {
		c.latest, c.at = at, c.elapsed()
	}
}

// Floor is what it is at least now, whatever the other clock shows.
func (c *Clock) Floor() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.floor()
}

func (c *Clock) floor() time.Time {
	if c.latest.IsZero() {
		return c.latest
	}
	passed := max(0, c.elapsed()-c.at)
	return c.latest.Add(passed - passed/1000)
}

// Set makes it follow the other clock from here, forwards or back. Whatever it
// ended before must be gone.
func (c *Clock) Set(reading time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest, c.at, c.behind = reading, c.elapsed(), false
}

// SetBack is what became of a clock that was behind the time that a store had
// seen.
type SetBack struct {
	By    time.Duration
	Start bool // it was so when the store was opened: how much time has passed is not known

	Grants, Questions int // that were ended for that
}

// String says it in words.
func (s SetBack) String() string {
	by := s.By.Round(time.Second)
	if !s.Start {
		return fmt.Sprintf("The clock was set back by %v. What was granted or asked still ends after the time it was given: the store goes on counting.", by)
	}
	return fmt.Sprintf("The clock is %v behind the last time the store has seen, so it is unknown how much time has passed. All grants (%d) and all questions with their answers (%d) were ended. New ones work as usual.",
		by, s.Grants, s.Questions)
}
