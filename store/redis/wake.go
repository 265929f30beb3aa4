package redis

import (
	"context"
	"errors"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	quiet      = 5 * time.Second // after which a silent subscription is pinged
	minBackoff = 50 * time.Millisecond
	maxBackoff = 2 * time.Second
)

// Wakes implements approval.Store. Each call is one subscription: a process
// needs one. Whatever breaks it, it subscribes again; what was published
// meanwhile is lost, which a hint may be.
func (s *Store) Wakes(ctx context.Context, woke func(id string)) error {
	backoff := minBackoff
	for ctx.Err() == nil {
		if s.listen(ctx, woke) {
			backoff = minBackoff
		}
		_ = pause(ctx, backoff) // that it ended is what the loop asks
		backoff = min(2*backoff, maxBackoff)
	}
	return nil
}

// listen holds one subscription until it breaks, and says whether it ever stood.
func (s *Store) listen(ctx context.Context, woke func(id string)) (stood bool) {
	sub := s.client.Subscribe(ctx, wakeChannel)
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // a read does not see its context end
		defer close(closed)
		_ = sub.Close()
	})
	defer func() {
		if stop() {
			_ = sub.Close()
		} else {
			<-closed
		}
	}()
	pinged := false
	for {
		message, err := sub.ReceiveTimeout(ctx, quiet)
		var timeout net.Error
		switch {
		case err == nil:
			pinged = false
		case !pinged && ctx.Err() == nil && errors.As(err, &timeout) && timeout.Timeout() && sub.Ping(ctx) == nil:
			pinged = true
			continue
		default:
			return stood
		}
		switch m := message.(type) {
		case *goredis.Subscription:
			stood = true
		case *goredis.Message:
			woke(m.Payload)
		}
	}
}
