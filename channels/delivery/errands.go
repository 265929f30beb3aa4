package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Errands are what a channel does that nobody waits for, until it is closed.
type Errands struct {
	channel string
	log     *slog.Logger
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// errandTime is how long one may take.
const errandTime = 30 * time.Second

// NewErrands are those of the named channel.
func NewErrands(channel string, log *slog.Logger) *Errands {
	ctx, stop := context.WithCancel(context.Background())
	return &Errands{channel: channel, log: log, ctx: ctx, stop: stop}
}

// Go starts one. If it fails, that is logged under what it means.
func (e *Errands) Go(failed string, do func(ctx context.Context) error) {
	e.wg.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, errandTime)
		defer cancel()
		if err := do(ctx); err != nil && e.ctx.Err() == nil {
			e.log.Warn(failed, "channel", e.channel, "err", err)
		}
	})
}

// Close ends those under way and waits for them.
func (e *Errands) Close() {
	e.stop()
	e.wg.Wait()
}
