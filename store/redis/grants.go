package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
)

// Grants implements approval.Store. Each bucket knows when its own end.
func (s *Store) Grants(ctx context.Context, conversation string, most int) ([]approval.StoredGrant, time.Time, error) {
	ctx, cancel, err := s.begin(ctx, "grants")
	if err != nil {
		return nil, time.Time{}, err
	}
	defer cancel()
	var found []ending
	var now time.Time
	if conversation == "" {
		found, now, err = s.grantsOfAll(ctx, most)
	} else {
		found, now, err = s.grantsOf(ctx, conversation)
	}
	if err != nil {
		return nil, now, wrap("grants", err)
	}
	slices.SortFunc(found, func(a, b ending) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Field, b.Field))
	})
	found = found[:min(most, len(found))]
	out := make([]approval.StoredGrant, len(found))
	for i := range found {
		out[i] = found[i].StoredGrant
	}
	return out, now, nil
}

// ending is a grant and the Unix millisecond in which it ends.
type ending struct {
	approval.StoredGrant
	at int64
}

// grantPlace is where a conversation's grants stand, if that is a hash at all.
func grantPlace(hash string) (place, error) {
	if len(hash) < 2 || !isHex(hash) {
		return place{}, fmt.Errorf("redis: %q is no conversation", hash)
	}
	return place{prefix: bucketPrefix(hash[:2]), hash: hash}, nil
}

func (s *Store) grantsOf(ctx context.Context, hash string) ([]ending, time.Time, error) {
	p, err := grantPlace(hash)
	if err != nil {
		return nil, time.Time{}, err
	}
	var clock *goredis.TimeCmd
	var all *goredis.MapStringStringCmd
	var lives *goredis.IntCmd
	_, err = s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		clock, all, lives = pipe.Time(ctx), pipe.HGetAll(ctx, p.grants()), pipe.Exists(ctx, p.state())
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	now := s.now(clock.Val())
	var found []ending
	if lives.Val() == 0 { // its grants went with it
		return nil, now, nil
	}
	for field, value := range all.Val() {
		found = addUnended(found, approval.StoredGrant{Conversation: hash, Field: field, Value: value}, now)
	}
	return found, now, nil
}

// addUnended adds a grant, unless it is over or does not say when it is.
func addUnended(to []ending, g approval.StoredGrant, now time.Time) []ending {
	second, _, _ := strings.Cut(g.Value, "|")
	n, err := strconv.ParseInt(second, 10, 64)
	if err != nil || n*1000 <= now.UnixMilli() {
		return to
	}
	return append(to, ending{g, n * 1000})
}

// grantsOfAll asks every bucket which grants have not ended, and then for those.
func (s *Store) grantsOfAll(ctx context.Context, most int) ([]ending, time.Time, error) {
	clock, err := s.client.Time(ctx).Result()
	if err != nil {
		return nil, time.Time{}, err
	}
	now := s.now(clock)
	members, err := s.granted(ctx, now, most)
	if err != nil {
		return nil, now, err
	}
	found, err := s.unended(ctx, members, now)
	return found, now, err
}

// unended reads the grants at these places.
func (s *Store) unended(ctx context.Context, at []approval.StoredGrant, now time.Time) (found []ending, err error) {
	values, lives := make([]*goredis.SliceCmd, len(at)), make([]*goredis.IntCmd, len(at))
	_, err = s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for i, g := range at {
			p := place{prefix: bucketPrefix(g.Conversation[:2]), hash: g.Conversation}
			values[i], lives[i] = pipe.HMGet(ctx, p.grants(), g.Field), pipe.Exists(ctx, p.state())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, g := range at {
		value, there := values[i].Val()[0].(string)
		if g.Value = value; there && lives[i].Val() == 1 { // else it has ended in another way
			found = addUnended(found, g, now)
		}
	}
	return found, nil
}

// granted are the places of grants that have not ended, by what the buckets say.
func (s *Store) granted(ctx context.Context, now time.Time, most int) ([]approval.StoredGrant, error) {
	cmds := make([]*goredis.StringSliceCmd, buckets)
	after := &goredis.ZRangeBy{Min: "(" + strconv.FormatInt(now.UnixMilli(), 10), Max: "+inf", Count: int64(most)}
	_, err := s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for n := range cmds {
			cmds[n] = pipe.ZRevRangeByScore(ctx, bucketPrefix(bucketName(n))+"granted", after)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []approval.StoredGrant
	for n, cmd := range cmds {
		for _, member := range cmd.Val() {
			hash, field, _ := strings.Cut(member, ":")
			if strings.HasPrefix(hash, bucketName(n)) && isHex(hash) {
				out = append(out, approval.StoredGrant{Conversation: hash, Field: field})
			}
		}
	}
	return out, nil
}

// Revoke implements approval.Store.
func (s *Store) Revoke(ctx context.Context, conversation string, fields ...string) (int, error) {
	ctx, cancel, err := s.begin(ctx, "revoke")
	if err != nil {
		return 0, err
	}
	defer cancel()
	p, err := grantPlace(conversation)
	if err != nil {
		return 0, err
	}
	args := []any{"", p.hash, "", ""}
	for _, field := range fields {
		args = append(args, field)
	}
	args = append(args, s.floor())
	ended, err := revokeScript.Run(ctx, s.client, p.keys(p.granted()), args...).Int()
	return ended, wrap("revoke", err)
}
