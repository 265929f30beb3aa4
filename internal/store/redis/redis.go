// Package redis keeps a store's documents in Redis: one node, Sentinel or Cluster. Any number of verifier processes may
// share it.
//
// A commit is one script: it compares versions, and writes if all are as they were read. Those who come at the same
// moment share a pipeline. Where replicas must have a write, WAIT goes in the same pipeline, and a write that too few
// confirm is an error: the caller denies.
//
// The package refuses to wait beyond its caller's context, and is not ready where Redis may evict keys. It decides
// nothing.
package redis

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/openclaw-verifier/verifier/internal/store"
)

//go:embed commit.lua
var commitLua string

// The script is sent by its hash, and whole where a server does not know it yet: after a restart, on a new node.
var commitScript = goredis.NewScript(commitLua)

const (
	prefix  = "v4:"
	channel = prefix + "wake"
	trips   = 2 // under way at the same moment: while Redis runs one, this process prepares the next
)

// Errors of this package.
var (
	ErrEviction = errors.New("redis: Redis may evict keys when memory is short")
	ErrReplicas = errors.New("redis: too few replicas have confirmed a write\nhint: a master under Sentinel needs a " +
		"replica that follows; replicas=0 in the store's URL does without, and may lose levels and grants in a " +
		"failover")
	errReply = errors.New("redis: Redis gave an answer that makes no sense")
)

// Options are what Open takes beside the URL.
type Options struct {
	Timeout time.Duration // of each dial, write and read; 0: 250 ms
	Dialer  func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Backend is a Redis. It is safe for concurrent use.
type Backend struct {
	client   goredis.UniversalClient
	replicas int // that must have a write
	timeout  time.Duration
	*store.Batch
}

// Open prepares a backend. It fails on a URL that can't be read and on nothing else: Redis is met at the first use, and
// again after each failure.
func Open(url string, o Options) (*Backend, error) {
	u, replicas, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(o.Timeout, 250*time.Millisecond)
	u.Dialer, u.ContextTimeoutEnabled, u.DisableIdentity = o.Dialer, true, true
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = timeout, timeout, timeout, timeout
	u.MaxRetries, u.DialerRetries = -1, 1 // a commit that was sent twice would find itself
	u.PoolSize = max(16, 10*runtime.GOMAXPROCS(0))
	u.PipelinePoolSize = -1 // pipelines share the pool; they are few
	u.Protocol = 2          // nothing here needs pushes
	logging.Disable()       // every error reaches the caller, and the log from there
	b := &Backend{client: goredis.NewUniversalClient(u), replicas: replicas, timeout: timeout}
	b.Batch = store.NewBatch(trips, b.commit)
	return b, nil
}

// Close implements store.Backend.
func (b *Backend) Close() error {
	b.Batch.Close()
	if err := b.client.Close(); !errors.Is(err, goredis.ErrClosed) {
		return err
	}
	return nil
}

// Ready implements store.Backend.
func (b *Backend) Ready(ctx context.Context) error {
	if cluster, ok := b.client.(*goredis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error {
			return refuseEviction(ctx, node)
		})
	}
	return refuseEviction(ctx, b.client)
}

// helped says what to do about a Redis that can't be met.
func helped(err error) error {
	if _, unmet := errors.AsType[*net.OpError](err); unmet {
		return fmt.Errorf("%w\nhint: is redis-server running there? store.url says where it is", err)
	}
	for _, code := range []string{"WRONGPASS", "NOAUTH", "NOPERM"} {
		if goredis.HasErrorPrefix(err, code) {
			return fmt.Errorf("%w\nhint: Redis wants another user or password than store.url has: "+
				"redis://USER:PASSWORD@HOST:PORT, or redis://:PASSWORD@HOST:PORT", err)
		}
	}
	return err
}

// refuseEviction reads one node's memory settings. A server that does not tell them is taken not to have them.
func refuseEviction(ctx context.Context, node goredis.Cmdable) error {
	info, err := node.InfoMap(ctx, "memory").Result()
	if _, answered := errors.AsType[goredis.Error](err); answered {
		return nil // it is there, but knows no such section, or keeps it from us
	}
	if err != nil {
		return helped(fmt.Errorf("redis: %w", err))
	}
	limit, policy := info["Memory"]["maxmemory"], info["Memory"]["maxmemory_policy"]
	if limit == "" || limit == "0" || policy == "" || policy == "noeviction" {
		return nil
	}
	return fmt.Errorf("%w (maxmemory %s, policy %s)\nhint: set maxmemory-policy noeviction in redis.conf, or: "+
		"redis-cli config set maxmemory-policy noeviction", ErrEviction, limit, policy)
}

// Watch implements store.Backend. Whatever breaks its subscription, go-redis subscribes again; what was published
// meanwhile is missed.
func (b *Backend) Watch(ctx context.Context, heard func(what string)) error {
	sub := b.client.Subscribe(ctx, channel)
	for {
		select {
		case m, open := <-sub.Channel(): // which pings it after 3 s of silence
			if !open {
				return goredis.ErrClosed
			}
			heard(m.Payload)
		case <-ctx.Done():
			return sub.Close()
		}
	}
}
