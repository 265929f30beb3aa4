package auditor

import (
	"sync"
	"time"
)

const (
	failuresInARow = 5
	rest           = 30 * time.Second
)

// breaker leaves a model alone that keeps failing: a question fails at once
// instead of waiting for a timeout. After a rest one question is let through, and
// if that is answered, all are.
type breaker struct {
	mu     sync.Mutex
	failed int
	until  time.Time // when the rest is over
	trying bool
}

// enter reports whether the model may be asked now.
func (b *breaker) enter(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failed < failuresInARow:
		return true
	case now.Before(b.until) || b.trying:
		return false
	}
	b.trying = true
	return true
}

// leave notes how it went. A question that was taken back says nothing of the
// model.
func (b *breaker) leave(now time.Time, o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	switch o {
	case answered:
		b.failed = 0
	case failed:
		b.failed++
		b.until = now.Add(rest)
	case takenBack:
	}
}

// resting says how often the model failed in a row, where it is left alone.
func (b *breaker) resting() (failed int, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed, b.failed >= failuresInARow
}

type outcome uint8

const (
	failed outcome = iota
	answered
	takenBack
)
