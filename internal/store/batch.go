package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed says that the store was closed under a caller.
var ErrClosed = errors.New("store: it is closed")

// Work is a commit that waits, and what becomes of it.
type Work struct {
	*Commit
	Result Result
	Err    error
	caller context.Context
	done   chan struct{}
}

// IsLate reports whether the caller has gone. Then this has failed: it was told so, or reads it in Err.
func (w *Work) IsLate() bool {
	err := w.caller.Err()
	if err != nil {
		w.Err = fmt.Errorf("no answer in time: %w", err)
	}
	return err != nil
}

// Batch has the commits that wait at the same moment done together: a backend's trip or transaction is most of what one
// costs. It does not wait for more. Several trips under way keep both sides at work.
type Batch struct {
	trips int
	do    func(together []*Work)

	mu      sync.Mutex
	waiting []*Work
	running int
	closed  bool
	ended   sync.WaitGroup
}

// Of those who wait, a trip takes its share: at least the fewest, at most the most.
const (
	fewestTogether = 5
	mostTogether   = 64
)

// NewBatch has so many trips under way at most. Do sets Result, or Err of what failed.
func NewBatch(trips int, do func(together []*Work)) *Batch { return &Batch{trips: trips, do: do} }

// Commit waits until the commit is done. A caller that leaves gets an error; what it asked for may happen all the same.
func (b *Batch) Commit(ctx context.Context, c *Commit) (Result, error) {
	w := &Work{Commit: c, caller: ctx, done: make(chan struct{})}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return Result{}, ErrClosed
	}
	b.waiting = append(b.waiting, w)
	if b.running < b.trips {
		b.running++
		b.ended.Go(b.run)
	}
	b.mu.Unlock()
	select {
	case <-w.done:
		return w.Result, w.Err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("no answer in time: %w", ctx.Err())
	}
}

// run makes one trip after the other as long as someone waits.
func (b *Batch) run() {
	for together := b.take(); len(together) > 0; together = b.take() {
		b.do(together)
		for _, w := range together {
			close(w.done)
		}
	}
}

func (b *Batch) take() (together []*Work) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(max(fewestTogether, len(b.waiting)/b.trips), mostTogether, len(b.waiting))
	if n == 0 {
		b.running--
	}
	together, b.waiting = b.waiting[:n:n], b.waiting[n:]
	return together
}

// Close ends it once all that wait are answered.
func (b *Batch) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.ended.Wait()
}
