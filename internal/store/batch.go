package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed says that the store was closed under a caller.
var ErrClosed = errors.New("store: it is closed")

// Work is what one caller wants done by a Batch.
type Work[T any] struct {
	Do     T
	Err    error
	caller context.Context
	done   chan struct{}
}

// IsLate reports whether the caller has gone: it was told that this failed, so better if it has.
func (w *Work[T]) IsLate() bool { return w.caller.Err() != nil }

// Batch has what waits at the same moment done together: a backend's trip or transaction is most of what one costs. It
// does not wait for more. Several trips under way keep both sides at work.
type Batch[T any] struct {
	trips   int
	do      func(together []*Work[T])
	waiting chan *Work[T]
	stop    chan struct{}
	ended   chan struct{}
	once    sync.Once
}

// Of those who wait, a trip takes its share: at least the fewest, at most the most.
const (
	fewestTogether = 5
	mostTogether   = 64
)

// NewBatch starts one. Do sets Err of what failed.
func NewBatch[T any](trips int, do func(together []*Work[T])) *Batch[T] {
	b := &Batch[T]{
		trips: trips, do: do, waiting: make(chan *Work[T], trips*mostTogether),
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	var all sync.WaitGroup
	for range trips {
		all.Go(b.serve)
	}
	go func() { all.Wait(); close(b.ended) }()
	return b
}

// Ask waits until the work is done. A caller that leaves gets an error; what it asked for may happen all the same.
func (b *Batch[T]) Ask(ctx context.Context, do T) error {
	w := &Work[T]{Do: do, caller: ctx, done: make(chan struct{})}
	waiting := b.waiting
	for {
		select {
		case waiting <- w:
			waiting = nil // from now on only wait
		case <-w.done:
			return w.Err
		case <-ctx.Done():
			return fmt.Errorf("no answer in time: %w", ctx.Err())
		case <-b.ended:
			select {
			case <-w.done:
				return w.Err
			default:
				return ErrClosed
			}
		}
	}
}

func (b *Batch[T]) serve() {
	for {
		select {
		case <-b.stop:
			return
		case first := <-b.waiting:
			together := []*Work[T]{first}
			most := min(max(fewestTogether, len(b.waiting)/b.trips), mostTogether)
			for more := true; more && len(together) < most; {
				select {
				case w := <-b.waiting:
					together = append(together, w)
				default:
					more = false
				}
			}
			b.do(together)
			for _, w := range together {
				close(w.done)
			}
		}
	}
}

// Close ends it; who still waits gets ErrClosed.
func (b *Batch[T]) Close() {
	b.once.Do(func() { close(b.stop) })
	<-b.ended
}

// Ended is closed when nothing will be answered any more.
func (b *Batch[T]) Ended() <-chan struct{} { return b.ended }
