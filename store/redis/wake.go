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

// Listen implements store.Records. Each call is one subscription: a process
// needs one. Whatever breaks it, it subscribes again; what was published
// meanwhile is lost, which a hint may be.
func (r *records) Listen(ctx context.Context, heard func(string)) error {
	backoff := minBackoff
	for ctx.Err() == nil {
		if r.listen(ctx, heard) {
			backoff = minBackoff
		}
		select {
		case <-time.After(backoff):
		case <-ctx.Done():
		}
		backoff = min(2*backoff, maxBackoff)
	}
	return nil
}

// listen holds one subscription until it breaks, and says whether it ever stood.
func (r *records) listen(ctx context.Context, heard func(string)) (stood bool) {
	sub := r.client.Subscribe(ctx, wakeChannel)
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
			heard(m.Payload)
		}
	}
}
