package approval

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/crash"
)

// tasks are the goroutines of a desk.
type tasks struct {
	log  *slog.Logger
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newTasks(log *slog.Logger) *tasks {
	t := &tasks{log: log}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// run starts a goroutine that Close waits for. A panic in it ends it alone.
func (t *tasks) run(f func(ctx context.Context)) {
	t.wg.Go(func() { t.survive(f) })
}

func (t *tasks) survive(f func(ctx context.Context)) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("the desk recovered from a panic", "panic", crash.Recovered(p))
		}
	}()
	f(t.ctx)
}

// sleep waits, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// runFor is run on behalf of a request, so that the log can say which.
func (t *tasks) runFor(request context.Context, f func(ctx context.Context)) {
	t.run(func(ctx context.Context) { f(onBehalf{ctx, request}) })
}

// onBehalf lives as long as the desk and knows what the request knew.
type onBehalf struct {
	context.Context
	request context.Context
}

func (o onBehalf) Value(key any) any {
	if v := o.Context.Value(key); v != nil {
		return v
	}
	return o.request.Value(key)
}
