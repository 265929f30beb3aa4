package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
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
	*store.Store
	records *records
}

// records are Redis as store.Records.
type records struct {
	client  goredis.UniversalClient
	clock   *store.Clock
	batcher *batcher
	timeout time.Duration // of a whole method
}

var (
	_ verifier.Store = (*Store)(nil)
	_ approval.Store = (*Store)(nil)
	_ store.Records  = (*records)(nil)
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
	u.PipelinePoolSize = -1 // pipelines share the pool; those of the batcher are few
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
	r := &records{client: client, clock: clock, batcher: newBatcher(client, timeout), timeout: whole}
	return &Store{store.New(r, store.Options{Epoch: o.Epoch, Timeout: whole, Clock: clock, SetBack: told}), r}, nil
}

// hush keeps the client library from writing to standard error on its own:
// every error reaches the caller, and the log from there.
var hush = sync.OnceFunc(func() { goredis.SetLogger(silence{}) })

type silence struct{}

// Printf drops it.
func (silence) Printf(context.Context, string, ...any) {}

// Close ends all connections.
func (r *records) Close() error {
	r.batcher.close()
	return r.client.Close()
}

// ErrEviction says that Redis may throw away what conversations are worth.
var ErrEviction = errors.New("redis: Redis may evict keys when memory is short")

// ErrSchema says that the database holds what this program would not understand.
var ErrSchema = errors.New("redis: another version of this program wrote to this database")

// Earlier is [ErrSchema] where an earlier version of this program wrote to the database. A Redis that can't be met has
// no say.
func (s *Store) Earlier(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.records.timeout)
	defer cancel()
	if s.records.client.Exists(ctx, earlier).Val() == 0 {
		return nil
	}
	return fmt.Errorf(
		"%w\nhint: move its keys away, they begin with v2, or give store.url another database number",
		ErrSchema,
	)
}

// Ready implements store.Records.
func (r *records) Ready(ctx context.Context) error {
	if err := r.client.Ping(ctx).Err(); err != nil {
		return helped(fmt.Errorf("redis: ready: %w", err))
	}
	// A replica and a full Redis still answer reads.
	if err := r.client.Set(ctx, prefix+"ready", "", time.Minute).Err(); err != nil {
		return fmt.Errorf("redis: ready: %w", err)
	}
	cluster, ok := r.client.(*goredis.ClusterClient)
	if !ok {
		return refuseEviction(ctx, r.client)
	}
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error {
		return refuseEviction(ctx, node)
	})
}

// helped says what to do about a Redis that can't be met.
func helped(err error) error {
	if _, unmet := errors.AsType[*net.OpError](err); unmet {
		return fmt.Errorf("%w\nhint: is redis-server running there? store.url says where it is", err)
	}
	for _, code := range []string{"WRONGPASS", "NOAUTH", "NOPERM"} {
		if goredis.HasErrorPrefix(err, code) {
			return fmt.Errorf(
				"%w\nhint: Redis wants another user or password than store.url has: redis://USER:PASSWORD@HOST:PORT, "+
					"or redis://:PASSWORD@HOST:PORT",
				err,
			)
		}
	}
	return err
}

// refuseEviction reads one node's memory settings. A server that does not tell
// them is taken not to have them.
func refuseEviction(ctx context.Context, node goredis.Cmdable) error {
	info, err := node.Info(ctx, "memory").Result()
	if err != nil {
		var answered goredis.Error
		if errors.As(err, &answered) { // it is there, but knows no such section, or keeps it from us
			return nil
		}
		return fmt.Errorf("redis: ready: %w", err)
	}
	limit, policy := infoField(info, "maxmemory"), infoField(info, "maxmemory_policy")
	if limit == "" || limit == "0" || policy == "" || policy == "noeviction" {
		return nil
	}
	return fmt.Errorf(
		"%w (maxmemory %s, policy %s)\nhint: set maxmemory-policy noeviction in redis.conf, or: redis-cli config set "+
			"maxmemory-policy noeviction",
		ErrEviction,
		limit,
		policy,
	)
}

// infoField finds name:value in the lines of INFO.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
