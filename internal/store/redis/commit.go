package redis

import (
	"context"
	"fmt"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/internal/store"
)

// call is a call of the script, and what it answers.
type call struct {
	keys  []string
	args  []any
	reply any
}

type work = store.Work[*call]

// Commit implements store.Backend.
func (b *Backend) Commit(ctx context.Context, c *store.Commit) (store.Result, error) {
	s := callOf(c)
	if err := b.batch.Ask(ctx, s); err != nil {
		return store.Result{}, fmt.Errorf("redis: %w", err)
	}
	return s.result(c)
}

// callOf is a commit as commit.lua takes it.
func callOf(c *store.Commit) *call {
	s := &call{keys: make([]string, 0, len(c.Read)+len(c.Write)), args: make([]any, 0, 4+len(c.Read)+3*len(c.Write))}
	s.args = append(s.args, len(c.Read), c.By.UnixMilli(), channel, c.Publish)
	for _, read := range c.Read {
		s.keys, s.args = append(s.keys, prefix+read.Key), append(s.args, read.Version)
	}
	for _, d := range c.Write {
		at := 0
		for at < len(c.Read) && c.Read[at].Key != d.Key {
			at++
		}
		if at == len(c.Read) {
			at = len(s.keys)
			s.keys = append(s.keys, prefix+d.Key)
		}
		value := append(append(make([]byte, 0, len(d.Version)+len(d.Data)), d.Version...), d.Data...)
		s.args = append(s.args, at+1, value, d.Keep.Milliseconds())
	}
	return s
}

// result reads what commit.lua answers.
func (s *call) result(c *store.Commit) (result store.Result, err error) {
	list, _ := s.reply.([]any)
	if len(list) < 2 {
		return result, errReply
	}
	late, isNumber := list[0].(int64)
	now, isTime := list[1].(int64)
	result = store.Result{Late: late != 0, Now: time.UnixMilli(now)}
	for moved := list[2:]; len(moved) >= 2; moved = moved[2:] {
		n, isIndex := moved[0].(int64)
		text, isText := moved[1].(string)
		if !isIndex || !isText || n < 1 || int(n) > len(c.Read) {
			return store.Result{}, errReply
		}
		result.Moved = append(result.Moved, docOf(c.Read[n-1].Key, text))
	}
	if !isNumber || !isTime {
		return store.Result{}, errReply
	}
	return result, nil
}

// run makes a trip to each node that a commit is for.
func (b *Backend) run(together []*work) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	cluster, ok := b.client.(*goredis.ClusterClient)
	if !ok {
		b.send(ctx, b.client, together)
		return
	}
	for range 2 { // once more where a slot has moved
		nodes := map[*goredis.Client][]*work{}
		for _, w := range together {
			node, err := cluster.MasterForKey(ctx, w.Do.keys[0])
			if w.Err = err; err == nil {
				nodes[node] = append(nodes[node], w)
			}
		}
		var all sync.WaitGroup
		for node, some := range nodes {
			all.Go(func() { b.send(ctx, node, some) })
		}
		all.Wait()
		var moved []*work
		for _, w := range together {
			if w.Err != nil && (goredis.HasErrorPrefix(w.Err, "MOVED") || goredis.HasErrorPrefix(w.Err, "ASK")) {
				moved = append(moved, w)
			}
		}
		if together = moved; len(together) == 0 {
			return
		}
		cluster.ReloadState(ctx)
	}
}

// send makes one trip to a node, and another for those whose script it does not know.
func (b *Backend) send(ctx context.Context, node goredis.UniversalClient, together []*work) {
	if unknown := b.pipeline(ctx, node, together, commitScript.EvalSha); len(unknown) > 0 {
		b.pipeline(ctx, node, unknown, commitScript.Eval)
	}
}

type evaluate func(ctx context.Context, c goredis.Scripter, keys []string, args ...any) *goredis.Cmd

func (b *Backend) pipeline(
	ctx context.Context, node goredis.UniversalClient, together []*work, eval evaluate,
) (unknown []*work) {
	sent, pipe := make([]*goredis.Cmd, len(together)), node.Pipeline()
	for i, w := range together {
		if !w.IsLate() {
			sent[i] = eval(ctx, pipe, w.Do.keys, w.Do.args...)
		}
	}
	if pipe.Len() == 0 {
		return nil
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
		w.Do.reply, w.Err = sent[i].Result()
		switch {
		case w.Err != nil && goredis.HasErrorPrefix(w.Err, "NOSCRIPT"):
			unknown = append(unknown, w)
		case w.Err == nil && (confirmed.Err() != nil || confirmed.Val() < int64(b.replicas)):
			w.Err = ErrReplicas
		}
	}
	return unknown
}
