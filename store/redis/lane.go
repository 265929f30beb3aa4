package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// lane sends the admits that wait at the same moment as one pipeline: a write
// and a read of the socket for all of them, which is most of what an admit
// costs this process. Each is a script of its own and atomic on its own. An
// admit that comes alone is sent alone, at once.
type lane struct {
	client  goredis.UniversalClient
	timeout time.Duration
	waiting chan *ride
	stop    chan struct{}
	ended   sync.WaitGroup
}

// ride is one admit on its way. The lane fills in what came back, then closes
// done.
type ride struct {
	keys  []string
	args  []any
	reply any
	err   error
	done  chan struct{}
}

const (
	lanes    = 2  // one may wait for Redis while the other gathers
	carriage = 64 // the most that ride together
)

// errClosed says that the store was closed under a call.
var errClosed = errors.New("redis: the store is closed")

func newLane(client goredis.UniversalClient, timeout time.Duration) *lane {
	l := &lane{client: client, timeout: timeout, waiting: make(chan *ride, lanes*carriage), stop: make(chan struct{})}
	for range lanes {
		l.ended.Go(l.serve)
	}
	return l
}

func (l *lane) close() {
	close(l.stop)
	l.ended.Wait()
}

// admit sends a ride and waits for it, or for ctx: it may run all the same.
func (l *lane) admit(ctx context.Context, keys []string, args []any) (any, error) {
	r := &ride{keys: keys, args: args, done: make(chan struct{})}
	select {
	case l.waiting <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.stop:
		return nil, errClosed
	}
	select {
	case <-r.done:
		return r.reply, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.stop:
		return nil, errClosed
	}
}

func (l *lane) serve() {
	for {
		select {
		case <-l.stop:
			return
		case first := <-l.waiting:
			l.run(l.gather(first))
		}
	}
}

// gather takes whoever waits already, and waits for nobody.
func (l *lane) gather(first *ride) []*ride {
	together := []*ride{first}
	for len(together) < carriage {
		select {
		case r := <-l.waiting:
			together = append(together, r)
		default:
			return together
		}
	}
	return together
}

func (l *lane) run(together []*ride) {
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	defer cancel()
	commands := make([]*goredis.Cmd, len(together))
	pipe := l.client.Pipeline()
	for i, r := range together {
		commands[i] = pipe.EvalSha(ctx, admitScript.Hash(), r.keys, r.args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, r := range together {
		r.reply, r.err = commands[i].Result()
		if goredis.HasErrorPrefix(r.err, "NOSCRIPT") {
			r.reply, r.err = admitScript.Run(ctx, l.client, r.keys, r.args...).Result()
		}
		close(r.done)
	}
}
