package redis

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// commit makes a trip to each node that a commit is for.
func (b *Backend) commit(together []*store.Work) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	cluster, ok := b.client.(*goredis.ClusterClient)
	if !ok {
		b.send(ctx, b.client, together)
		return
	}
	for range 2 { // once more where a slot has moved
		nodes := map[*goredis.Client][]*store.Work{}
		for _, w := range together {
			node, err := cluster.MasterForKey(ctx, prefix+w.Docs[0].Key) // the others are in the same slot
			if w.Err = err; err == nil {
				nodes[node] = append(nodes[node], w)
			}
		}
		var all sync.WaitGroup
		for node, some := range nodes {
			all.Go(func() { b.send(ctx, node, some) })
		}
		all.Wait()
		if together = those(together, "MOVED", "ASK"); len(together) == 0 {
			return
		}
		cluster.ReloadState(ctx)
	}
}

// those are the commits that failed with an error that begins so.
func those(all []*store.Work, codes ...string) (some []*store.Work) {
	for _, w := range all {
		if w.Err != nil && slices.ContainsFunc(codes, func(c string) bool { return goredis.HasErrorPrefix(w.Err, c) }) {
			some = append(some, w)
		}
	}
	return some
}

// send makes one trip to a node, and another for those whose script it does not know.
func (b *Backend) send(ctx context.Context, node goredis.UniversalClient, together []*store.Work) {
	b.pipeline(ctx, node, together, commitScript.EvalSha)
	if unknown := those(together, "NOSCRIPT"); len(unknown) > 0 {
		b.pipeline(ctx, node, unknown, commitScript.Eval)
	}
}

type evaluate func(ctx context.Context, c goredis.Scripter, keys []string, args ...any) *goredis.Cmd

func (b *Backend) pipeline(
	ctx context.Context, node goredis.UniversalClient, together []*store.Work, eval evaluate,
) {
	sent, pipe := make([]*goredis.Cmd, len(together)), node.Pipeline()
	for i, w := range together {
		if !w.IsLate() {
			keys, args := arguments(w.Commit)
			sent[i] = eval(ctx, pipe, keys, args...)
		}
	}
	if pipe.Len() == 0 {
		return
	}
	confirmed := goredis.NewIntCmd(ctx, "wait", b.replicas, max(1, (b.timeout/2).Milliseconds()))
	if b.replicas > 0 {
		_ = pipe.Process(ctx, confirmed) // it is only queued
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, w := range together {
		if sent[i] == nil {
			continue
		}
		reply, err := sent[i].Slice()
		switch {
		case err != nil:
			w.Err = helped(fmt.Errorf("redis: %w", err))
		case confirmed.Err() != nil || confirmed.Val() < int64(b.replicas):
			w.Err = ErrReplicas
		default:
			w.Result, w.Err = result(w.Commit, reply)
		}
	}
}

// arguments are a commit as commit.lua takes it.
func arguments(c *store.Commit) (keys []string, args []any) {
	keys, args = make([]string, len(c.Docs)), make([]any, 3, 6+len(c.Docs))
	args[0], args[1], args[2] = c.By.UnixMilli(), channel, c.Publish
	for i := range c.Docs {
		keys[i], args = prefix+c.Docs[i].Key, append(args, c.Docs[i].Was)
	}
	for i := range c.Docs {
		if d := &c.Docs[i]; d.Value != nil {
			args = append(args, i+1, d.Value, d.Keep.Milliseconds())
		}
	}
	return keys, args
}

// result reads what commit.lua answers.
func result(c *store.Commit, reply []any) (r store.Result, err error) {
	if len(reply) < 2 {
		return r, errReply
	}
	late, isNumber := reply[0].(int64)
	now, isTime := reply[1].(int64)
	r.Late, r.Now = late != 0, time.UnixMilli(now)
	for moved := reply[2:]; len(moved) >= 2; moved = moved[2:] {
		n, isIndex := moved[0].(int64)
		value, isText := moved[1].(string)
		if !isIndex || !isText || n < 1 || int(n) > len(c.Docs) {
			return store.Result{}, errReply
		}
		r.Moved = append(r.Moved, store.Doc{Key: c.Docs[n-1].Key, Value: []byte(value)})
	}
	if !isNumber || !isTime {
		return store.Result{}, errReply
	}
	return r, nil
}
