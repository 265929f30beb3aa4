package redis

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/verifier"
)

// DefaultTimeout bounds each dial, write and read. A whole method takes at most
// 1.6 of it, 400 ms: a deny leaves within half a second.
const DefaultTimeout = 250 * time.Millisecond

// Options are what Open takes beside the URL.
type Options struct {
	// Epoch remembers on this machine which store it worked with. Nil remembers
	// for the life of the process only: a loss before it is not seen.
	Epoch *store.Epoch

	// Timeout bounds each dial, write and read; zero means DefaultTimeout.
	Timeout time.Duration

	// Elapsed is time that passes while Redis' clock is set back; nil means the
	// process's own.
	Elapsed func() time.Duration

	// SetBack is called when Redis' clock was found behind the time that the store
	// had seen. It may be called by any method. It may be nil.
	SetBack func(store.SetBack)

	// Dialer opens connections; nil means the network.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Store is a store in Redis. It is safe for concurrent use.
type Store struct {
	client  goredis.UniversalClient
	epoch   *epoch
	clock   *store.Clock
	admits  *batcher
	settles *batcher
	timeout time.Duration // of a whole method
}

var (
	_ verifier.Store = (*Store)(nil)
	_ approval.Store = (*Store)(nil)
)

// Open prepares a store. It fails on a URL that can't be read and on nothing
// else: Redis is met at the first use, and again after each failure.
func Open(url string, o Options) (*Store, error) {
	u, replicas, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	u.Dialer = o.Dialer
	u.ContextTimeoutEnabled = true
	timeout := cmp.Or(o.Timeout, DefaultTimeout)
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = timeout, timeout, timeout, timeout
	u.MaxRetries, u.DialerRetries = -1, 1
	u.PoolSize = max(16, 10*runtime.GOMAXPROCS(0))
	u.PipelinePoolSize = -1 // pipelines share the pool; those of the batchers are at most half of the least it has
	u.Protocol = 2          // nothing here needs pushes on the connections of calls
	u.DisableIdentity = true
	hush()
	client := goredis.NewUniversalClient(u)
	await(client, replicas, timeout)
	whole := timeout * 8 / 5
	told := o.SetBack
	if told == nil {
		told = func(store.SetBack) {}
	}
	clock := store.NewClock(o.Elapsed, func(by time.Duration) { told(store.SetBack{By: by}) })
	return &Store{
		client: client, epoch: &epoch{client: client, file: o.Epoch, timeout: whole, clock: clock, told: told}, clock: clock,
		admits: newBatcher(client, timeout), settles: newBatcher(client, timeout), timeout: whole,
	}, nil
}

// hush keeps the client library from writing to standard error on its own:
// every error reaches the caller, and the log from there.
var hush = sync.OnceFunc(func() { goredis.SetLogger(silence{}) })

type silence struct{}

// Printf drops it.
func (silence) Printf(context.Context, string, ...any) {}

// Close ends all connections.
func (s *Store) Close() error {
	s.admits.close()
	s.settles.close()
	return s.client.Close()
}

// begin bounds a method's time and makes sure that the epoch is known.
func (s *Store) begin(ctx context.Context, what string) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	if err := s.epoch.meet(ctx); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("redis: %s: %w", what, err)
	}
	return ctx, cancel, nil
}

// acquainted makes sure that the epoch is known, which it nearly always is.
func (s *Store) acquainted(ctx context.Context) error {
	if s.epoch.met.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.epoch.meet(ctx)
}

// KeepHead remembers how far a record has got.
func (s *Store) KeepHead(ctx context.Context, name, head string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return wrap("keep head", s.client.Set(ctx, "v1:head:"+name, head, 0).Err())
}

// Head is how far a record had got, "" if that was never said.
func (s *Store) Head(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	head, err := s.client.Get(ctx, "v1:head:"+name).Result()
	return head, wrap("head", ifThere(err))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: %s: %w", what, err)
}
