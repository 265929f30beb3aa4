package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// ErrEviction says that Redis may throw away what conversations are worth.
var ErrEviction = errors.New("redis: Redis may evict keys when memory is short")

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
			return fmt.Errorf("%w\nhint: Redis wants another user or password than store.url has: redis://USER:PASSWORD@HOST:PORT, or redis://:PASSWORD@HOST:PORT", err)
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
	return fmt.Errorf("%w (maxmemory %s, policy %s)\nhint: set maxmemory-policy noeviction in redis.conf, or: redis-cli config set maxmemory-policy noeviction", ErrEviction, limit, policy)
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
