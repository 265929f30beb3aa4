package redis

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// replicated makes a write count only when so many replicas have it too. Redis
// confirms a write before it replicates it: what a master confirmed and lost in a
// failover would be a level that fell, or a yes that can be used again.
type replicated struct {
	client *goredis.Client
	count  int
	wait   time.Duration
}

// errReplicas says that a write is on the master alone. It may be lost or not.
var errReplicas = errors.New("redis: too few replicas have confirmed a write\nhint: a master under Sentinel needs a replica that follows; replicas=0 in the store's URL does without, and may lose levels and grants in a failover")

// await makes all writes of a client wait for replicas.
func await(client goredis.UniversalClient, count int, timeout time.Duration) {
	if count == 0 {
		return
	}
	hook := func(c *goredis.Client) { c.AddHook(&replicated{c, count, timeout / 2}) }
	switch c := client.(type) {
	case *goredis.Client:
		hook(c)
	case *goredis.ClusterClient:
		c.OnNewNode(hook)
	}
}

// DialHook changes nothing.
func (*replicated) DialHook(next goredis.DialHook) goredis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook sends a write together with its WAIT, on one connection.
func (r *replicated) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if !writes(cmd) {
			return next(ctx, cmd)
		}
		pipe := r.client.Pipeline()
		_ = pipe.Process(ctx, cmd) // it is only queued
		_, _ = pipe.Exec(ctx)      // the command has its own error
		return cmd.Err()
	}
}

// ProcessPipelineHook adds a WAIT to a pipeline that writes.
func (r *replicated) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		wrote := false
		for _, cmd := range cmds {
			wrote = wrote || writes(cmd)
		}
		if !wrote {
			return next(ctx, cmds)
		}
		wait := goredis.NewIntCmd(ctx, "wait", strconv.Itoa(r.count), strconv.FormatInt(max(1, r.wait.Milliseconds()), 10))
		err := next(ctx, append(cmds[:len(cmds):len(cmds)], wait))
		if wait.Err() == nil && wait.Val() >= int64(r.count) {
			return err
		}
		for _, cmd := range cmds {
			if cmd.Err() == nil || errors.Is(cmd.Err(), goredis.Nil) {
				cmd.SetErr(errors.Join(errReplicas, wait.Err()))
			}
		}
		return errReplicas
	}
}

// writers are the commands of ours that may change something. Those that make a
// connection must not be among them: they come on one that has no other yet.
var writers = map[string]bool{"eval": true, "evalsha": true, "set": true, "setnx": true, "del": true, "hset": true, "hdel": true}

func writes(cmd goredis.Cmder) bool { return writers[strings.ToLower(cmd.Name())] }
