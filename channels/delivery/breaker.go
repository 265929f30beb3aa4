package delivery

import (
	"fmt"
	"sync"
	"time"
)

// Limits of a breaker.
const (
	maxFailures  = 5 // in a row, before the platform counts as down
	firstPause   = 2 * time.Second
	longestPause = time.Minute
)

// breaker stops calls to a platform that fails. After a pause one call tries it;
// its success lets the others through, its failure makes the next pause longer.
type breaker struct {
	mu       sync.Mutex
	failures int
	pause    time.Duration
	from     time.Time // not before
	trying   bool      // the one call is under way
	last     error
}

// open says why no call is let through now, if none is.
func (b *breaker) open(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusal(now)
}

// enter lets a call through, or says why not. A call that is let through must call leave.
func (b *breaker) enter(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refusal(now); err != nil {
		return err
	}
	b.trying = b.failures >= maxFailures
	return nil
}

func (b *breaker) refusal(now time.Time) error {
	if b.failures >= maxFailures && (b.trying || now.Before(b.from)) {
		return fmt.Errorf("%w: %w", ErrDown, b.last)
	}
	return nil
}

// leave tells how a call went that was let through.
func (b *breaker) leave(now time.Time, err error, down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	if !down {
		b.failures, b.pause, b.last = 0, 0, nil
		return
	}
	b.last = err
	if b.failures++; b.failures < maxFailures {
		return
	}
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	b.from = now.Add(b.pause)
}
