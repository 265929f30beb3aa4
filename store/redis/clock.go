package redis

import (
	"context"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/store"
)

// Redis' clock may be set back, and after a failover it is another machine's. So
// every script gets the earliest that it can be, by what this process has seen
// and by the time that has passed here since; and the latest time that any process
// has seen is kept with the data each second, for those that come later.

// timeKey is where the latest time is kept.
const timeKey = "v1:time"

// floor is the earliest that it can be, in Unix milliseconds.
func (s *Store) floor() int64 { return max(0, s.clock.Floor().UnixMilli()) }

// now is the store's time where Redis' clock shows this.
func (s *Store) now(reading time.Time) time.Time {
	return s.clock.Now(reading).Truncate(time.Millisecond)
}

// saw takes note of a time that a script gave; the zero time is none.
func (s *Store) saw(now time.Time) {
	if !now.IsZero() {
		s.clock.Saw(now)
	}
}

// KeepTime keeps the latest time with the data. It is to be called each second.
func (s *Store) KeepTime(ctx context.Context) error {
	ctx, cancel, err := s.begin(ctx, "keep time")
	if err != nil {
		return err
	}
	defer cancel()
	clock, err := s.client.Time(ctx).Result()
	if err != nil {
		return wrap("keep time", err)
	}
	s.now(clock) // a clock that was set back is noticed here
	ms, err := keepTimeScript.Run(ctx, s.client, []string{timeKey}, s.floor()).Int64()
	if err == nil {
		s.saw(time.UnixMilli(ms))
	}
	return wrap("keep time", err)
}

// endPatience is how long ending everything may take. Callers are denied meanwhile.
const endPatience = 30 * time.Second

// goOn begins where the store's time ended. If Redis' clock is behind that, it is
// unknown how much time has passed, so all that a person gave for a while is over.
// The rest keeps the time it has left, and from here Redis' clock counts again,
// unless another process is running and knows better.
func (e *epoch) goOn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	kept, err := e.client.Get(ctx, timeKey).Int64()
	if ifThere(err) != nil {
		return err
	}
	now, err := e.client.Time(ctx).Result()
	if err != nil {
		return err
	}
	latest := time.UnixMilli(kept)
	by := latest.Sub(now)
	if by <= store.Slack {
		if by > 0 {
			now = latest
		}
		e.clock.Set(now)
		return nil
	}
	b := store.SetBack{By: by, Start: true}
	if err := e.endGiven(ctx, &b); err != nil {
		return err
	}
	if err := e.client.Set(ctx, timeKey, now.UnixMilli(), 0).Err(); err != nil {
		return err
	}
	e.clock.Set(now)
	e.told(b)
	return nil
}

// endGiven ends all grants and questions, and moves other ends back, on every
// server.
func (e *epoch) endGiven(ctx context.Context, b *store.SetBack) error {
	cluster, ok := e.client.(*goredis.ClusterClient)
	if !ok {
		return endOn(ctx, e.client, b)
	}
	nodes := make(chan *goredis.Client, buckets) // the servers are asked at the same time
	if err := cluster.ForEachMaster(ctx, func(_ context.Context, node *goredis.Client) error {
		nodes <- node
		return nil
	}); err != nil {
		return err
	}
	close(nodes)
	for node := range nodes {
		if err := endOn(ctx, node, b); err != nil {
			return err
		}
	}
	return nil
}

func endOn(ctx context.Context, node goredis.UniversalClient, b *store.SetBack) error {
	var cursor uint64
	for {
		keys, next, err := node.Scan(ctx, cursor, "v1:*", 1000).Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := endKey(ctx, node, key, b); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// endKey does what is to be done about one key.
func endKey(ctx context.Context, node goredis.UniversalClient, key string, b *store.SetBack) error {
	kind := strings.TrimPrefix(key, "v1:")
	if strings.HasPrefix(kind, "{") {
		_, kind, _ = strings.Cut(kind, "}:")
	}
	name, _, _ := strings.Cut(kind, ":")
	switch name {
	case "g":
		n, err := node.HLen(ctx, key).Result()
		if err != nil {
			return err
		}
		b.Grants += int(n)
		return node.Del(ctx, key).Err()
	case "k":
		b.Questions++
		return node.Del(ctx, key).Err()
	case "q", "open", "granted", "questions":
		return node.Del(ctx, key).Err()
	case "r", "tries", "lease":
		return shiftScript.Run(ctx, node, []string{key}, strconv.FormatInt(b.By.Milliseconds(), 10), 0).Err()
	}
	return nil
}
