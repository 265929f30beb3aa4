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

// IsLate reports whether the caller has gone: it was told that this failed, so better if it has.
func (w *Work) IsLate() bool { return w.caller.Err() != nil }

// Batch has the commits that wait at the same moment done together: a backend's trip or transaction is most of what one
// costs. It does not wait for more. Several trips under way keep both sides at work.
type Batch struct {
	trips   int
	waiting chan *Work
	stop    context.CancelFunc
	ended   chan struct{}
}

// Of those who wait, a trip takes its share: at least the fewest, at most the most.
const (
	fewestTogether = 5
	mostTogether   = 64
)

// NewBatch starts one. Do sets Result, or Err of what failed.
func NewBatch(trips int, do func(together []*Work)) *Batch {
	ctx, stop := context.WithCancel(context.Background())
	b := &Batch{trips: trips, waiting: make(chan *Work, trips*mostTogether), stop: stop, ended: make(chan struct{})}
	var all sync.WaitGroup
	for range trips {
		all.Go(func() {
			for ctx.Err() == nil {
				together := b.take(ctx)
				do(together)
				for _, w := range together {
					close(w.done)
				}
			}
		})
	}
	go func() { all.Wait(); close(b.ended) }()
	return b
}

func (b *Batch) take(ctx context.Context) (together []*Work) {
	select {
	case first := <-b.waiting:
		together = append(together, first)
	case <-ctx.Done():
		return nil
	}
	for most := min(max(fewestTogether, len(b.waiting)/b.trips), mostTogether); len(together) < most; {
		select {
		case w := <-b.waiting:
			together = append(together, w)
		default:
			return together
		}
	}
	return together
}

// Commit waits until the commit is done. A caller that leaves gets an error; what it asked for may happen all the same.
func (b *Batch) Commit(ctx context.Context, c *Commit) (Result, error) {
	w := &Work{Commit: c, caller: ctx, done: make(chan struct{})}
	waiting := b.waiting
	for {
		select {
		case waiting <- w:
			waiting = nil // from now on only wait
		case <-w.done:
			return w.Result, w.Err
		case <-ctx.Done():
			return Result{}, fmt.Errorf("no answer in time: %w", ctx.Err())
		case <-b.ended:
			select {
			case <-w.done:
				return w.Result, w.Err
			default:
				return Result{}, ErrClosed
			}
		}
	}
}

// Close ends it; who still waits gets ErrClosed.
func (b *Batch) Close() {
	b.stop()
	<-b.ended
}

// Ended is closed when nothing will be answered any more.
func (b *Batch) Ended() <-chan struct{} { return b.ended }
