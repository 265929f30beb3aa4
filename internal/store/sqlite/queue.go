package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
)

// groupSize is how many share a transaction at most: enough to make its price small, few enough that the first does not
// wait long.
const groupSize = 64

// request is work on its way. It may run twice, where a neighbour made the first transaction fail.
type request struct {
	caller context.Context // whose work is not begun once it has gone: it was told that it failed
	run    func(ctx context.Context, now time.Time) error
	err    error
	done   chan struct{}
}

// ask has work done in a transaction and waits for its commit. A caller that leaves gets an error; what it asked for may
// happen all the same.
func (b *Backend) ask(ctx context.Context, run func(ctx context.Context, now time.Time) error) error {
	r := &request{caller: ctx, run: run, done: make(chan struct{})}
	queue := b.queue
	for {
		select {
		case queue <- r:
			queue = nil // it is in; from now on only wait
		case <-r.done:
			return r.err
		case <-ctx.Done():
			return fmt.Errorf("store/sqlite: the database did not answer in time: %w", ctx.Err())
		case <-b.ended:
			select {
			case <-r.done:
				return r.err
			default:
				return ErrClosed
			}
		}
	}
}

// serve does what waits until the backend is closed.
func (b *Backend) serve() {
	defer close(b.ended)
	for {
		select {
		case <-b.quit:
			return
		case first := <-b.queue:
			group := []*request{first}
			for more := true; more && len(group) < groupSize; {
				select {
				case r := <-b.queue:
					group = append(group, r)
				default:
					more = false
				}
			}
			b.do(group)
		}
	}
}

// do does work in one transaction and answers each after it.
func (b *Backend) do(group []*request) {
	err := b.transaction(group)
	for _, r := range group {
		if err != nil && len(group) > 1 {
			b.do([]*request{r})
			continue
		}
		if err != nil {
			r.err = fmt.Errorf("store/sqlite: %w", err)
		}
		close(r.done)
	}
}

func (b *Backend) transaction(group []*request) (err error) {
	ctx := context.Background() // its callers may leave: the others wait for it too
	defer func() {
		if p := recover(); p != nil {
			err = crash.Recovered(p)
		}
		if err != nil {
			_, _ = b.conn.ExecContext(ctx, "ROLLBACK") // SQLite may have undone it by itself
		}
	}()
	if _, err := b.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	now := b.now().Truncate(time.Millisecond)
	for _, r := range group {
		if r.caller.Err() != nil {
			continue
		}
		if err := r.run(ctx, now); err != nil {
			return err
		}
	}
	if now.Sub(b.swept).Abs() > time.Second {
		b.swept = now
		if _, err := b.sweep.ExecContext(ctx, now.UnixMilli()); err != nil {
			return err
		}
	}
	_, err = b.conn.ExecContext(ctx, "COMMIT")
	return err
}
