package redis

import (
	"context"
	"time"
)

// Hold takes a lease or renews it, for ttl from now. It reports false while
// another owner has it.
func (s *Store) Hold(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	return s.lease(ctx, "hold", name, owner, life(ttl))
}

// Release gives a lease up, if it is the owner's.
func (s *Store) Release(ctx context.Context, name, owner string) error {
	_, err := s.lease(ctx, "release", name, owner, 0)
	return err
}

func (s *Store) lease(ctx context.Context, what, name, owner string, ms int64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	held, err := leaseScript.Run(ctx, s.client, []string{"v1:lease:" + name}, owner, ms, s.floor()).Bool()
	return held, wrap(what, err)
}
