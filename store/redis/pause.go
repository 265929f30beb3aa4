package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
)

// Pause implements approval.Store. Every bucket has its own copy, so that an
// admit finds it in its slot. Where not all could be written the caller gets an
// error and says it again.
func (s *Store) Pause(ctx context.Context, scope, word string) error {
	ctx, cancel, err := s.begin(ctx, "pause")
	if err != nil {
		return err
	}
	defer cancel()
	_, err = s.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for n := range buckets {
			p.HSet(ctx, pausesKey(n), scope, word)
		}
		p.Publish(ctx, wakeChannel, approval.PauseWake)
		return nil
	})
	return wrap("pause", err)
}

func pausesKey(bucket int) string { return bucketPrefix(bucketName(bucket)) + "pauses" }

// Pauses implements approval.Store. Buckets may differ, if someone wrote into
// one of them: what any of them holds is given, and each admit sees its own.
func (s *Store) Pauses(ctx context.Context) (map[string]string, error) {
	ctx, cancel, err := s.begin(ctx, "pauses")
	if err != nil {
		return nil, err
	}
	defer cancel()
	words, err := s.client.HGetAll(ctx, pausesKey(0)).Result()
	return words, wrap("pauses", err)
}

const questionsKey = "v1:questions"

// Spend implements approval.Store.
func (s *Store) Spend(ctx context.Context, agent string, most int, window time.Duration) (approval.Spending, error) {
	ctx, cancel, err := s.begin(ctx, "spend")
	if err != nil {
		return approval.Spending{}, err
	}
	defer cancel()
	reply, err := spendScript.Run(ctx, s.client, []string{questionsKey}, agent, most, life(window), s.floor()).Result()
	if err != nil {
		return approval.Spending{}, wrap("spend", err)
	}
	f, err := texts(reply, 3)
	if err != nil {
		return approval.Spending{}, err
	}
	if f[0] == "1" {
		return approval.Spending{OK: true}, nil
	}
	room, err := milliTime(f[1])
	return approval.Spending{Room: room, First: f[2] == "1"}, err
}

// Refund implements approval.Store.
func (s *Store) Refund(ctx context.Context, agent string) error {
	ctx, cancel, err := s.begin(ctx, "refund")
	if err != nil {
		return err
	}
	defer cancel()
	return wrap("refund", refundScript.Run(ctx, s.client, []string{questionsKey}, agent).Err())
}

// Forgive implements approval.Store.
func (s *Store) Forgive(ctx context.Context, agents ...string) error {
	ctx, cancel, err := s.begin(ctx, "forgive")
	if err != nil {
		return err
	}
	defer cancel()
	if len(agents) == 0 {
		return wrap("forgive", s.client.Del(ctx, questionsKey).Err())
	}
	return wrap("forgive", s.client.HDel(ctx, questionsKey, agents...).Err())
}
