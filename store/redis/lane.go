package redis

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// lane sends the calls of a script that wait at the same moment as one pipeline:
// a write and a read of the socket for all of them, which is most of what one
// costs this process. Each is atomic on its own. One that comes alone is sent
// alone, at once. Admits have a lane, and settles another: thousands of held
// calls may be allowed at the same moment, and no new call waits behind them.
type lane struct {
	client  goredis.UniversalClient
	timeout time.Duration // of a trip
	waiting chan *ride
	stop    chan struct{}
	ended   sync.WaitGroup
}

// scriptCall is a script with all it takes: by its hash, and whole.
type scriptCall interface {
	command(ctx context.Context) *goredis.Cmd
	whole(ctx context.Context) *goredis.Cmd
}

// ride is one call on its way. The lane fills in what came back, then sends on
// done, which has room for that. From when it is handed to the lane until then it
// is the lane's alone; whoever has heard from done may use it for another call.
type ride struct {
	call  scriptCall
	by    time.Time // when nobody waits for it any more
	sent  *goredis.Cmd
	reply any
	err   error
	done  chan struct{}
	admit admitCall // where call is one: most are
}

// rides are those that nobody uses at this moment.
var rides = sync.Pool{New: func() any { return &ride{done: make(chan struct{}, 1)} }}

// newRide is one for a call that takes until by, at the latest.
func newRide(by time.Time) *ride {
	r, _ := rides.Get().(*ride)
	r.by = by
	return r
}

// free keeps the ride for another call, and nothing of this one.
func (r *ride) free() {
	r.call, r.sent, r.reply, r.err = nil, nil, nil, nil
	r.admit.forget()
	rides.Put(r)
}

// Two trips under way keep both sides at work: while Redis runs one, this process
// answers the last and prepares the next. One long trip would have each wait for
// the other, and so do trips that take all who wait; many short ones are mostly
// writes and reads of the socket.
const (
	lanes    = 2  // trips under way at the same moment
	few      = 5  // ride together without looking who else has room
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
	l.refuse()
}

// refuse ends the rides of those who came after the last trip.
func (l *lane) refuse() {
	for {
		select {
		case r := <-l.waiting:
			r.err = errClosed
			r.done <- struct{}{}
		default:
			return
		}
	}
}

// send sends a call and waits for its answer. The call may run all the same where
// there is none. It frees the ride if it can.
func (l *lane) send(ctx context.Context, r *ride) (any, error) {
	select {
	case l.waiting <- r:
	default:
		if err := l.queue(ctx, r); err != nil {
			return nil, err
		}
	}
	select {
	case <-l.stop: // close may have refused all who waited before this one did
		l.refuse()
	default:
	}
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	reply, err := r.reply, r.err
	r.free()
	return reply, err
}

// wait waits until the lane has done with the ride, which it has when its time is
// up. Only those who must leave before that look for it meanwhile: what others
// find out when they wake is soon enough, and they need no channel of the context.
func (r *ride) wait(ctx context.Context) error {
	if _, hurried := ctx.Deadline(); !hurried {
		<-r.done
		return ctx.Err()
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queue waits for a place where there is none: Redis is slow or gone.
func (l *lane) queue(ctx context.Context, r *ride) error {
	ctx, cancel := context.WithDeadline(ctx, r.by)
	defer cancel()
	select {
	case l.waiting <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.stop:
		return errClosed
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

// gather takes a few of those who wait already, or where many do a lane's share.
// It waits for nobody, but lets whoever could run at this moment do so first: on
// a busy machine those are calls that come aboard, on an idle one there are none.
func (l *lane) gather(first *ride) []*ride {
	runtime.Gosched()
	together := []*ride{first}
	most := min(max(few, len(l.waiting)/lanes), carriage)
	for len(together) < most {
		select {
		case r := <-l.waiting:
			together = append(together, r)
		default:
			return together
		}
	}
	return together
}

// run makes the trip. Whoever waited longest says how long it may take: behind a
// Redis that hangs, all of them are late.
func (l *lane) run(together []*ride) {
	by := time.Now().Add(l.timeout)
	if first := together[0].by; first.Before(by) {
		by = first
	}
	ctx, cancel := context.WithDeadline(context.Background(), by)
	defer cancel()
	commands := make([]goredis.Cmder, len(together))
	for i, r := range together {
		r.sent = r.call.command(ctx)
		commands[i] = r.sent
	}
	pipe := l.client.Pipeline()
	_ = pipe.BatchProcess(ctx, commands...) // they are only queued
	_, _ = pipe.Exec(ctx)                   // each command has its own error
	for _, r := range together {
		r.reply, r.err = r.sent.Result()
		if r.err != nil && goredis.HasErrorPrefix(r.err, "NOSCRIPT") {
			whole := r.call.whole(ctx)
			_ = l.client.Process(ctx, whole) // the same error as the result's
			r.reply, r.err = whole.Result()
		}
		r.done <- struct{}{}
	}
}
