package sqlite

import "context"

// Exec runs a statement on the one connection.
func (b *Backend) Exec(ctx context.Context, query string) error {
	_, err := b.db.ExecContext(ctx, query)
	return err
}
