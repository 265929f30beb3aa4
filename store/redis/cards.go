package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
)

// Place implements approval.Store. The code is claimed first, in its own slot,
// and given back if the card does not go up.
func (s *Store) Place(ctx context.Context, d approval.Draft) (approval.Placement, error) {
	ctx, cancel, err := s.begin(ctx, "place")
	if err != nil {
		return approval.Placement{}, err
	}
	defer cancel()
	p := placeOf(d.Conversation.ID())
	if !strings.HasPrefix(d.ID, p.bucket()) {
		return approval.Placement{}, fmt.Errorf("redis: place: the card's id %q does not begin with its conversation's bucket %q", d.ID, p.bucket())
	}
	claim, err := s.claimCode(ctx, d)
	if err != nil {
		return approval.Placement{}, wrap("place", err)
	}
	placed, err := s.place(ctx, p, d)
	if err == nil && placed.State == approval.New {
		return placed, nil
	}
	if errDrop := dropScript.Run(ctx, s.client, []string{codeKey(d.CodeSeal)}, claim).Err(); err == nil {
		err = errDrop
	}
	return placed, wrap("place", err)
}

func (s *Store) place(ctx context.Context, p place, d approval.Draft) (approval.Placement, error) {
	args := []any{d.ID, p.hash, d.Blob, life(d.Live), d.MaxOpen, flag(d.Batch), approval.Retention.Milliseconds(), d.Instead}
	for _, digest := range d.Digests {
		args = append(args, digest)
	}
	args = append(args, s.floor())
	keys := []string{p.state(), p.questions(), p.open(), p.card(d.ID)}
	reply, err := placeScript.Run(ctx, s.client, keys, args...).Result()
	if err != nil {
		return approval.Placement{}, err
	}
	if reply == "unknown" {
		return approval.Placement{}, approval.ErrUnknown
	}
	f, err := texts(reply, 3)
	if err != nil {
		return approval.Placement{}, err
	}
	return placement(f)
}

func placement(f []string) (approval.Placement, error) {
	state, err := strconv.ParseUint(f[0], 10, 8)
	if err != nil || state > uint64(approval.Shared) {
		return approval.Placement{}, fmt.Errorf("%w: %q", errReply, f)
	}
	out := approval.Placement{State: approval.Placed(state), ID: f[1]}
	if out.ID != "" {
		out.Until, err = milliTime(f[2])
	}
	return out, err
}

func codeKey(seal string) string { return "v1:code:" + seal }

// codeGrace is how long a claimed code without a card is left to the process that claimed
// it: the card may be on its way.
const codeGrace = time.Second

// claimCode makes the code lead to the draft, and gives the claim.
func (s *Store) claimCode(ctx context.Context, d approval.Draft) (string, error) {
	keep := d.Live + approval.Retention + 24*time.Hour // a card may be kept longer than it was placed for
	old := ""
	for range 2 {
		reply, err := codeScript.Run(ctx, s.client, []string{codeKey(d.CodeSeal)}, d.ID, life(keep), old, s.floor()).Result()
		if err != nil {
			return "", err
		}
		f, err := texts(reply, 2)
		if err != nil {
			return "", err
		}
		id, at, _ := strings.Cut(f[0], " ")
		if id == d.ID {
			return f[0], nil
		}
		if free, err := s.codeIsFree(ctx, id, at, f[1]); err != nil || !free {
			return "", errors.Join(err, approval.ErrCodeTaken)
		}
		old = f[0]
	}
	return "", approval.ErrCodeTaken
}

// codeIsFree reports that a claim leads to no card, and will not.
func (s *Store) codeIsFree(ctx context.Context, id, claimed, now string) (bool, error) {
	cards, _, err := s.load(ctx, cardVersion, []string{id})
	if err != nil || len(cards) > 0 {
		return false, err
	}
	from, errFrom := milliTime(claimed)
	to, errTo := milliTime(now)
	return errFrom != nil || to.Sub(from) > codeGrace, errTo
}

// loadAtOnce is how many cards one pipeline reads: well within its timeout.
const loadAtOnce = 500

// What is read of a card: all of it, or all but the blob.
var (
	wholeCard   = []string{"v", "u", "k", "b"}
	cardVersion = wholeCard[:3]
)

// Load implements approval.Store.
func (s *Store) Load(ctx context.Context, ids ...string) (cards []approval.Stored, now time.Time, err error) {
	return s.loadAll(ctx, wholeCard, ids)
}

// Versions implements approval.Store.
func (s *Store) Versions(ctx context.Context, ids ...string) (cards []approval.Stored, now time.Time, err error) {
	return s.loadAll(ctx, cardVersion, ids)
}

func (s *Store) loadAll(ctx context.Context, fields, ids []string) (cards []approval.Stored, now time.Time, err error) {
	if err := s.epoch.meet(ctx); err != nil {
		return nil, time.Time{}, wrap("load", err)
	}
	for len(ids) > loadAtOnce {
		some, _, err := s.loadInTime(ctx, fields, ids[:loadAtOnce])
		if err != nil {
			return nil, time.Time{}, wrap("load", err)
		}
		cards, ids = append(cards, some...), ids[loadAtOnce:]
	}
	rest, now, err := s.loadInTime(ctx, fields, ids)
	return append(cards, rest...), now, wrap("load", err)
}

func (s *Store) loadInTime(ctx context.Context, fields, ids []string) ([]approval.Stored, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.load(ctx, fields, ids)
}

func (s *Store) load(ctx context.Context, fields, ids []string) ([]approval.Stored, time.Time, error) {
	var clock *goredis.TimeCmd
	cmds := make([]*goredis.SliceCmd, len(ids))
	_, err := s.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		clock = p.Time(ctx)
		for i, id := range ids {
			if key, ok := cardKey(id); ok {
				cmds[i] = p.HMGet(ctx, key, fields...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	now := s.now(clock.Val())
	var cards []approval.Stored
	for i, cmd := range cmds {
		if cmd == nil || cmd.Val()[0] == nil {
			continue
		}
		card, keep, err := stored(ids[i], cmd.Val())
		if err != nil {
			return nil, time.Time{}, err
		}
		if now.Before(keep) {
			cards = append(cards, card)
		}
	}
	return cards, now, nil
}

// stored reads a card's version, until and keep, and its blob where that was read.
func stored(id string, fields []any) (approval.Stored, time.Time, error) {
	f, err := texts(fields, len(cardVersion))
	if err != nil {
		return approval.Stored{}, time.Time{}, err
	}
	version, errVersion := strconv.ParseInt(f[0], 10, 64)
	until, errUntil := milliTime(f[1])
	keep, errKeep := milliTime(f[2])
	card := approval.Stored{ID: id, Version: version, Until: until}
	if len(f) == len(wholeCard) {
		card.Blob = []byte(f[3])
	}
	return card, keep, errors.Join(errVersion, errUntil, errKeep)
}

// Swap implements approval.Store.
func (s *Store) Swap(ctx context.Context, c approval.Change) error {
	ctx, cancel, err := s.begin(ctx, "swap")
	if err != nil {
		return err
	}
	defer cancel()
	if _, ok := cardKey(c.ID); !ok {
		return approval.ErrGone
	}
	// All keys stand in the card's slot: the state of a conversation of another
	// bucket is not found there, and its grants are refused.
	p := place{prefix: bucketPrefix(c.ID[:2]), hash: c.Conversation.Hash()}
	keys := []string{p.state(), p.questions(), p.open(), p.card(c.ID), p.grants(), p.granted()}
	outcome, err := swapScript.Run(ctx, s.client, keys, append(swapArgs(p.hash, c), s.floor())...).Text()
	if err != nil {
		return wrap("swap", err)
	}
	switch outcome {
	case "ok":
		return nil
	case "gone":
		return approval.ErrGone
	case "stale":
		return approval.ErrStale
	case "late":
		return approval.ErrLate
	case "unknown":
		return approval.ErrUnknown
	}
	return fmt.Errorf("%w: %q", errReply, outcome)
}

func swapArgs(hash string, c approval.Change) []any {
	notAfter := int64(0)
	if !c.NotAfter.IsZero() {
		notAfter = c.NotAfter.UnixMilli()
	}
	args := []any{c.ID, c.Version, c.Blob, notAfter, flag(c.Closed), approval.Retention.Milliseconds(), wakeChannel, len(c.Grants), hash}
	for field, value := range c.Grants {
		args = append(args, field, value)
	}
	for digest, until := range c.Waiting {
		args = append(args, digest, max(0, until.UnixMilli()))
	}
	return args
}

// Find implements approval.Store.
func (s *Store) Find(ctx context.Context, codeSeal string) (string, error) {
	ctx, cancel, err := s.begin(ctx, "find")
	if err != nil {
		return "", err
	}
	defer cancel()
	claim, err := s.client.Get(ctx, codeKey(codeSeal)).Result()
	if err != nil {
		return "", wrap("find", ifThere(err))
	}
	id, _, _ := strings.Cut(claim, " ")
	cards, _, err := s.load(ctx, cardVersion, []string{id})
	if err != nil || len(cards) == 0 {
		return "", wrap("find", err)
	}
	return id, nil
}

// Open implements approval.Store. Each bucket knows its own, so that a card and
// its place in the list come and go together.
func (s *Store) Open(ctx context.Context) ([]string, error) {
	ctx, cancel, err := s.begin(ctx, "open")
	if err != nil {
		return nil, err
	}
	defer cancel()
	var clock *goredis.TimeCmd
	cmds := make([]*goredis.ZSliceCmd, buckets)
	_, err = s.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		clock = p.Time(ctx)
		for n := range cmds {
			cmds[n] = p.ZRangeWithScores(ctx, bucketPrefix(bucketName(n))+"open", 0, -1)
		}
		return nil
	})
	if err != nil {
		return nil, wrap("open", err)
	}
	now := float64(s.now(clock.Val()).UnixMilli())
	var members []string // they begin with the microsecond of their placing
	for _, cmd := range cmds {
		for _, z := range cmd.Val() {
			if member, ok := z.Member.(string); ok && z.Score > now {
				members = append(members, member)
			}
		}
	}
	slices.Sort(members)
	for i, m := range members {
		members[i] = m[strings.LastIndex(m, ":")+1:]
	}
	return members, nil
}

// Miss implements approval.Store.
func (s *Store) Miss(ctx context.Context, person string, window time.Duration, count bool) (int, error) {
	ctx, cancel, err := s.begin(ctx, "miss")
	if err != nil {
		return 0, err
	}
	defer cancel()
	n, err := missScript.Run(ctx, s.client, []string{"v1:tries:" + person}, life(window), flag(count), s.floor()).Int()
	return n, wrap("miss", err)
}
