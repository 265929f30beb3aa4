package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Tasks are what a channel does in the background, until it is closed.
type Tasks struct {
	log  *slog.Logger
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// taskTime is how long one may take.
const taskTime = 30 * time.Second

// NewTasks returns an empty set of tasks.
func NewTasks(log *slog.Logger) *Tasks {
	ctx, stop := context.WithCancel(context.Background())
	return &Tasks{log: log, ctx: ctx, stop: stop}
}

// Go starts one. If it fails, that is logged under what it means.
func (t *Tasks) Go(failed string, do func(ctx context.Context) error) {
	t.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, taskTime)
		defer cancel()
		if err := do(ctx); err != nil && t.ctx.Err() == nil {
			t.log.Warn(failed, "err", err)
		}
	})
}

// Close ends those under way and waits for them.
func (t *Tasks) Close() {
	t.stop()
	t.wg.Wait()
}
