package store_test

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/store"
)

func TestAClockThatIsSetBackDoesNotStopTime(t *testing.T) {
	t.Parallel()
	var passed time.Duration
	var steps []time.Duration
	c := store.NewClock(func() time.Duration { return passed }, func(by time.Duration) { steps = append(steps, by) })
	start := time.UnixMilli(1_800_000_000_000)
	wall := start
	want := func(at time.Duration) {
		t.Helper()
		if got := c.Now(wall).Sub(start); got < at-at/500 || got > at {
			t.Errorf("it is %v, want about %v", got, at)
		}
	}
	want(0)
	wall, passed = wall.Add(time.Minute), time.Minute
	want(time.Minute)
	wall = wall.Add(-time.Hour)
	want(time.Minute)
	for range 60 {
		wall, passed = wall.Add(time.Second), passed+time.Second
		want(passed)
	}
	if len(steps) != 1 || steps[0] != time.Hour {
		t.Errorf("told of %v", steps)
	}
	wall = wall.Add(2 * time.Hour) // forward by an hour
	want(time.Hour + 2*time.Minute)
	wall, passed = wall.Add(-time.Hour), passed+time.Minute // and set right again
	want(time.Hour + 3*time.Minute)
	if len(steps) != 2 {
		t.Errorf("told of %v", steps)
	}
	c.Saw(c.Floor().Add(time.Minute)) // of another process; the clock is behind as before
	want(time.Hour + 4*time.Minute)
	if len(steps) != 2 {
		t.Errorf("told of %v", steps)
	}
	c.Set(wall)
	if got := c.Now(wall); !got.Equal(wall) {
		t.Errorf("set to %v, it is %v", wall, got)
	}
	if !c.Floor().Equal(wall) {
		t.Errorf("at least %v", c.Floor())
	}
}

// Two clocks that nobody sets drift apart: the process's own never wins over one
// that is right.
func TestADriftingProcessDoesNotRunAheadOfTheClock(t *testing.T) {
	t.Parallel()
	var passed time.Duration
	c := store.NewClock(func() time.Duration { return passed }, nil)
	start := time.UnixMilli(1_800_000_000_000)
	for n := range 24 * 60 {
		passed = time.Duration(n) * (time.Minute + 30*time.Millisecond) // 500 parts in a million fast
		wall := start.Add(time.Duration(n) * time.Minute)
		if got := c.Now(wall); !got.Equal(wall) {
			t.Fatalf("after %d minutes it is %v, the clock shows %v", n, got, wall)
		}
	}
}
