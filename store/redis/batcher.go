package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// batcher sends the commits that wait at the same moment as one pipeline:
// a write and a read of the socket for all of them, which is most of what one
// costs this process. Each is atomic on its own. One that comes alone is sent
// alone, at once.
type batcher struct {
	client  goredis.UniversalClient
	timeout time.Duration // of a trip
	waiting chan *request
	stop    chan struct{}
	ended   sync.WaitGroup
}

// request is one call of a script on its way. The batcher fills in what came back,
// then sends on done, which has room for that.
type request struct {
	call
	by    time.Time // when its caller gives up
	reply any
	err   error
	done  chan struct{}
}

func newRequest(c call, by time.Time) *request {
	return &request{call: c, by: by, done: make(chan struct{}, 1)}
}

// Two trips under way keep both sides at work: while Redis runs one, this process
// answers the last and prepares the next. One long trip would have each wait for
// the other, and so do trips that take all who wait; many short ones are mostly
// writes and reads of the socket.
const (
	trips     = 2  // under way at the same moment
	fewest    = 5  // go together without looking who else has room
	batchSize = 64 // the most that go together
)

// errClosed says that the store was closed under a call.
var errClosed = errors.New("redis: the store is closed")

func newBatcher(client goredis.UniversalClient, timeout time.Duration) *batcher {
	b := &batcher{client: client, timeout: timeout, waiting: make(chan *request, trips*batchSize), stop: make(chan struct{})}
	for range trips {
		b.ended.Go(b.serve)
	}
	return b
}

func (b *batcher) close() {
	close(b.stop)
	b.ended.Wait()
	b.refuse()
}

// refuse answers those who came after the last trip.
func (b *batcher) refuse() {
	for {
		select {
		case r := <-b.waiting:
			r.err = errClosed
			r.done <- struct{}{}
		default:
			return
		}
	}
}

// send sends a call and waits for its answer until by. The call may run all the
// same where there is none.
func (b *batcher) send(ctx context.Context, c call, by time.Time) (any, error) {
	r := newRequest(c, by)
	select {
	case b.waiting <- r:
	default:
		if err := b.queue(ctx, r); err != nil {
			return nil, err
		}
	}
	select {
	case <-b.stop: // close may have refused all who waited before this one did
		b.refuse()
	default:
	}
	select { // a trip ends by itself when the time of its first call is up
	case <-r.done:
		return r.reply, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// queue waits for a place where there is none: Redis is slow or gone.
func (b *batcher) queue(ctx context.Context, r *request) error {
	ctx, cancel := context.WithDeadline(ctx, r.by)
	defer cancel()
	select {
	case b.waiting <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.stop:
		return errClosed
	}
}

func (b *batcher) serve() {
	for {
		select {
		case <-b.stop:
			return
		case first := <-b.waiting:
			b.run(b.gather(first))
		}
	}
}

// gather takes a few of those who wait already, or where many do a trip's share.
// It does not wait for more.
func (b *batcher) gather(first *request) []*request {
	together := []*request{first}
	most := min(max(fewest, len(b.waiting)/trips), batchSize)
	for len(together) < most {
		select {
		case r := <-b.waiting:
			together = append(together, r)
		default:
			return together
		}
	}
	return together
}

// run makes the trip. The one that has waited longest says how long it may take:
// behind a Redis that hangs, all of them are late.
func (b *batcher) run(together []*request) {
	by := time.Now().Add(b.timeout)
	if first := together[0].by; first.Before(by) {
		by = first
	}
	ctx, cancel := context.WithDeadline(context.Background(), by)
	defer cancel()
	sent := make([]*goredis.Cmd, len(together))
	pipe := b.client.Pipeline()
	for i, r := range together {
		sent[i] = commitScript.EvalSha(ctx, pipe, r.keys, r.args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, r := range together {
		r.reply, r.err = sent[i].Result()
		if r.err != nil && goredis.HasErrorPrefix(r.err, "NOSCRIPT") {
			r.reply, r.err = commitScript.Eval(ctx, b.client, r.keys, r.args...).Result()
		}
		r.done <- struct{}{}
	}
}
