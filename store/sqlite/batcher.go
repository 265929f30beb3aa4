package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
)

const (
	// patience is how long a caller waits, in the queue and for the commit. It
	// leaves the rest of the half second for turning the error into a deny.
	patience = 400 * time.Millisecond

	// groupSize is how many operations share a commit at most: enough to make
	// the commit's price small, few enough that the first does not wait long.
	groupSize = 64
)

// batcher is one connection, the goroutine that owns it, and the operations that
// wait for it.
type batcher struct {
	records *records
	db      *db
	begin   string // the statement that begins a transaction here
	waits   time.Duration
	queue   chan *op
	quit    chan struct{}
	ended   chan struct{} // closed when no operation will be answered any more
	once    sync.Once
	runs    bool     // the goroutine was started
	sweeper *sweeper // nil where nothing is written
}

// op is one atomic operation: it either refuses before it has changed anything,
// or does all it came for. It may run twice, if a neighbour made the first
// transaction fail.
type op struct {
	run  func(*tx) error
	done chan error
	left atomic.Bool // the caller has gone
}

func newBatcher(r *records, d *db, begin string) *batcher {
	return &batcher{
		records: r, db: d, begin: begin, waits: patience, queue: make(chan *op, groupSize),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
}

// ask has an operation run in a batcher and waits for its commit. A caller whose
// context ends, or whose patience does, gets an error; what it asked for may
// happen all the same.
func ask[T any](ctx context.Context, b *batcher, run func(*tx) (T, error)) (T, error) {
	var answer, none T
	err := b.ask(ctx, func(t *tx) (err error) {
		answer, err = run(t)
		return err
	})
	if err != nil {
		return none, err // the answer may still be written
	}
	return answer, nil
}

// ask runs an operation that has no result but its error.
func (b *batcher) ask(ctx context.Context, run func(*tx) error) error {
	return b.do(ctx, &op{done: make(chan error, 1), run: run})
}

func (b *batcher) do(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	queue := b.queue
	select {
	case queue <- o:
		queue = nil // it is in; from now on only wait
	default:
	}
	enough := time.NewTimer(b.waits)
	defer enough.Stop()
	for {
		select {
		case queue <- o:
			queue = nil
		case err := <-o.done:
			return err
		case <-ctx.Done():
			o.left.Store(true)
			return ctx.Err()
		case <-enough.C:
			o.left.Store(true)
			return ErrTimeout
		case <-b.ended:
			return o.answered()
		}
	}
}

// answered is the answer of an operation in a batcher that has ended.
func (o *op) answered() error {
	select {
	case err := <-o.done:
		return err
	default:
		return ErrClosed
	}
}

func (b *batcher) start() {
	b.runs = true
	go b.serve()
}

// serve runs operations until the batcher is closed, and sweeps in between.
func (b *batcher) serve() {
	defer close(b.ended)
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case first := <-b.queue:
			ops := b.gather(first)
			b.group(ops)
			b.sweeper.keepUp(b, len(ops))
		case <-tick.C:
			b.sweeper.tidy(b)
		case <-b.quit:
			return
		}
	}
}

// gather takes what is waiting: a commit for one costs as much as a commit for all.
func (b *batcher) gather(first *op) []*op {
	ops := []*op{first}
	for len(ops) < groupSize {
		select {
		case o := <-b.queue:
			ops = append(ops, o)
		default:
			return ops
		}
	}
	return ops
}

// group runs operations in one transaction and answers each after the commit.
// When the database fails in one of them, that one gets the error, and the others run
// again by themselves.
func (b *batcher) group(ops []*op) {
	results := make([]error, len(ops))
	failed := -1
	err := b.transaction(func(t *tx) error {
		for i, o := range ops {
			if o.left.Load() {
				continue // it has been told that this failed: better if it has
			}
			results[i] = attempt(o, t)
			if f := (*fault)(nil); errors.As(results[i], &f) {
				failed = i
				return results[i]
			}
		}
		return nil
	})
	for i, o := range ops {
		switch {
		case err == nil:
			o.done <- results[i]
		case failed < 0 || failed == i:
			o.done <- err
		default:
			b.group([]*op{o})
		}
	}
}

// attempt runs one operation. A panic in it is a failure like any other: the
// transaction is undone and the caller denies.
func attempt(o *op, t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fault{crash.Recovered(p)}
		}
	}()
	return o.run(t)
}

// transaction commits what run did, or undoes it. The results of run count only
// when it returns nil.
func (b *batcher) transaction(run func(*tx) error) error {
	if _, err := b.db.exec(b.begin); err != nil {
		b.undo()
		return err
	}
	t := &tx{db: b.db, records: b.records, now: b.records.Now()}
	err := run(t)
	if err == nil && b.sweeper != nil {
		err = t.keepTime()
	}
	if err == nil {
		_, err = b.db.exec("COMMIT")
	}
	if err != nil {
		b.undo()
		return err
	}
	for _, id := range t.announces {
		b.records.wakes.announce(id)
	}
	return nil
}

// undo ends a transaction that failed. SQLite has ended it by itself after some
// errors, and then refuses: that refusal means nothing.
func (b *batcher) undo() { _, _ = b.db.exec("ROLLBACK") }

// close ends the goroutine, then the connection. A batcher that was never opened
// or never started closes too.
func (b *batcher) close() (err error) {
	if b == nil {
		return nil
	}
	b.once.Do(func() {
		close(b.quit)
		if b.runs {
			<-b.ended
		}
		err = b.db.close()
	})
	return err
}
