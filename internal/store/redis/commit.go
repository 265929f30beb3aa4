package redis

import (
	"context"
	"fmt"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// Two trips under way keep both sides at work: while Redis runs one, this process answers the last and prepares the next.
const (
	trips     = 2  // under way at the same moment
	fewest    = 5  // go together without looking who else has room
	batchSize = 64 // the most that go together
)

// request is a call of the script on its way.
type request struct {
	ctx   context.Context // of its caller: one that has gone is not sent
	keys  []string
	args  []any
	reply any
	err   error
	done  chan struct{}
}

// Commit implements store.Backend. A caller that leaves gets an error; what it asked for may happen all the same.
func (b *Backend) Commit(ctx context.Context, c *store.Commit) (store.Result, error) {
	r := requestOf(ctx, c)
	select {
	case b.waiting <- r:
	case <-ctx.Done():
		return store.Result{}, fmt.Errorf("redis: Redis does not keep up: %w", ctx.Err())
	case <-b.stop:
		return store.Result{}, errClosed
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return store.Result{}, fmt.Errorf("redis: Redis did not answer in time: %w", ctx.Err())
	case <-b.stop:
		return store.Result{}, errClosed
	}
	if r.err != nil {
		return store.Result{}, fmt.Errorf("redis: %w", r.err)
	}
	return r.result(c)
}

// requestOf is a commit as commit.lua takes it.
func requestOf(ctx context.Context, c *store.Commit) *request {
	r := &request{ctx: ctx, done: make(chan struct{})}
	r.keys = make([]string, 0, len(c.Read)+len(c.Write))
	r.args = make([]any, 0, 4+len(c.Read)+3*len(c.Write))
	r.args = append(r.args, len(c.Read), c.By.UnixMilli(), channel, c.Publish)
	for _, read := range c.Read {
		r.keys, r.args = append(r.keys, prefix+read.Key), append(r.args, read.Version)
	}
	for _, d := range c.Write {
		at := 0
		for at < len(c.Read) && c.Read[at].Key != d.Key {
			at++
		}
		if at == len(c.Read) {
			at = len(r.keys)
			r.keys = append(r.keys, prefix+d.Key)
		}
		value := append(append(make([]byte, 0, len(d.Version)+len(d.Data)), d.Version...), d.Data...)
		r.args = append(r.args, at+1, value, d.Keep.Milliseconds())
	}
	return r
}

// result reads what commit.lua answers.
func (r *request) result(c *store.Commit) (store.Result, error) {
	list, _ := r.reply.([]any)
	if len(list) < 2 {
		return store.Result{}, errReply
	}
	late, isNumber := list[0].(int64)
	now, isTime := list[1].(int64)
	if !isNumber || !isTime {
		return store.Result{}, errReply
	}
	result := store.Result{Late: late != 0, Now: time.UnixMilli(now)}
	for moved := list[2:]; len(moved) >= 2; moved = moved[2:] {
		n, isNumber := moved[0].(int64)
		text, isText := moved[1].(string)
		if !isNumber || !isText || n < 1 || int(n) > len(c.Read) {
			return store.Result{}, errReply
		}
		result.Moved = append(result.Moved, docOf(c.Read[n-1].Key, text))
	}
	return result, nil
}

// serve sends the commits that wait at the same moment as one pipeline: a write and a read of the socket for all of them,
// which is most of what one costs this process. It does not wait for more.
func (b *Backend) serve() {
	for {
		select {
		case <-b.stop:
			return
		case first := <-b.waiting:
			group := []*request{first}
			most := min(max(fewest, len(b.waiting)/trips), batchSize)
			for more := true; more && len(group) < most; {
				select {
				case r := <-b.waiting:
					group = append(group, r)
				default:
					more = false
				}
			}
			b.run(group)
		}
	}
}

// run makes a trip to each node that a commit is for.
func (b *Backend) run(group []*request) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	cluster, ok := b.client.(*goredis.ClusterClient)
	if !ok {
		b.send(ctx, b.client, group)
	} else {
		b.spread(ctx, cluster, group)
	}
	for _, r := range group {
		close(r.done)
	}
}

// spread sends commits to the masters of their slots, and once more where a slot has moved.
func (b *Backend) spread(ctx context.Context, cluster *goredis.ClusterClient, group []*request) {
	for range 2 {
		nodes := map[*goredis.Client][]*request{}
		for _, r := range group {
			node, err := cluster.MasterForKey(ctx, r.keys[0])
			if r.err = err; err == nil {
				nodes[node] = append(nodes[node], r)
			}
		}
		var all sync.WaitGroup
		for node, some := range nodes {
			all.Go(func() { b.send(ctx, node, some) })
		}
		all.Wait()
		var moved []*request
		for _, r := range group {
			if r.err != nil && (goredis.HasErrorPrefix(r.err, "MOVED") || goredis.HasErrorPrefix(r.err, "ASK")) {
				moved = append(moved, r)
			}
		}
		if group = moved; len(group) == 0 {
			return
		}
		cluster.ReloadState(ctx)
	}
}

// send makes one trip to a node, and another for those whose script it does not know.
func (b *Backend) send(ctx context.Context, node goredis.UniversalClient, group []*request) {
	unknown := b.pipeline(ctx, node, group, commitScript.EvalSha)
	if len(unknown) > 0 {
		b.pipeline(ctx, node, unknown, commitScript.Eval)
	}
}

type evaluate func(ctx context.Context, c goredis.Scripter, keys []string, args ...any) *goredis.Cmd

func (b *Backend) pipeline(
	ctx context.Context, node goredis.UniversalClient, group []*request, eval evaluate,
) (unknown []*request) {
	sent := make([]*goredis.Cmd, len(group))
	pipe := node.Pipeline()
	for i, r := range group {
		if r.err = r.ctx.Err(); r.err == nil {
			sent[i] = eval(ctx, pipe, r.keys, r.args...)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	var confirmed *goredis.IntCmd
	if b.replicas > 0 {
		confirmed = goredis.NewIntCmd(ctx, "wait", b.replicas, max(1, (b.timeout/2).Milliseconds()))
		_ = pipe.Process(ctx, confirmed) // it is only queued
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, r := range group {
		if sent[i] == nil {
			continue
		}
		r.reply, r.err = sent[i].Result()
		switch {
		case r.err != nil && goredis.HasErrorPrefix(r.err, "NOSCRIPT"):
			unknown = append(unknown, r)
		case r.err == nil && confirmed != nil && (confirmed.Err() != nil || confirmed.Val() < int64(b.replicas)):
			r.err = ErrReplicas
		}
	}
	return unknown
}
