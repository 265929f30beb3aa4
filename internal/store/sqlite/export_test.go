package sqlite

import (
	"context"
	"time"
)

// Do runs something on the one connection, as all that waits.
func (b *Backend) Do(ctx context.Context, run func() error) error {
	return b.ask(ctx, func(context.Context, time.Time) error { return run() })
}

// Exec runs a statement there.
func (b *Backend) Exec(ctx context.Context, query string) error {
	return b.ask(ctx, func(ctx context.Context, _ time.Time) error {
		_, err := b.conn.ExecContext(ctx, query)
		return err
	})
}
