package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// Link implements verifier.Store. Parent and child may stand in two slots, so
// the parent's root is read first, and only the child is changed.
func (s *Store) Link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	ctx, cancel, err := s.begin(ctx, "link")
	if err != nil {
		return session.Conversation{}, taint.Untrusted, err
	}
	defer cancel()
	root, before, err := s.link(ctx, child, parent)
	return root, before, wrap("link", err)
}

func (s *Store) link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	failed := func(err error) (session.Conversation, taint.Level, error) {
		return session.Conversation{}, taint.Untrusted, err
	}
	if at, err := s.rootOf(ctx, child); err != nil || at != child {
		return at, taint.System, err
	}
	root, err := s.rootOf(ctx, parent)
	if err != nil {
		return failed(err)
	}
	if root == child {
		return child, taint.System, nil
	}
	// The root is raised first, and the link holds only for a child that has not
	// become worse meanwhile, nor read a secret: whatever dies in between, nothing
	// is washed out.
	before, secret := taint.System, ""
	for range taint.Levels + 2 {
		at, worst, read, err := s.linkAt(ctx, child, root, before, secret)
		if err != nil {
			return failed(err)
		}
		if worst == before && read == secret {
			return at, before, nil
		}
		if worst != before {
			if err := s.raise(ctx, root, worst, store.Spawned); err != nil {
				return failed(err)
			}
		}
		if read != secret {
			if err := s.expose(ctx, root, read); err != nil {
				return failed(err)
			}
		}
		before, secret = worst, read
	}
	return failed(errReply)
}

// linkAt links a child that is as bad as we think and has read the secret that we
// think; otherwise it only says how bad the child is, and what it has read.
func (s *Store) linkAt(ctx context.Context, child, root session.Conversation, before taint.Level, secret string) (at session.Conversation, worst taint.Level, read string, err error) {
	p := placeOf(child.ID())
	reply, err := s.inEpoch(ctx, p.bucket(), func(id string) (any, error) {
		return linkScript.Run(ctx, s.client, p.keys(), id, p.hash, nameOf(child), "", nameOf(root), string(digit(before)), secret, s.floor()).Result()
	})
	if err != nil {
		return root, taint.Untrusted, "", err
	}
	f, err := texts(reply, 3)
	if err != nil {
		return root, taint.Untrusted, "", err
	}
	at, errName := parseName(f[0])
	worst, errLevel := parseLevel(f[1])
	return at, worst, f[2], errors.Join(errName, errLevel)
}

// rootOf is the conversation whose state this one shares: itself if none. A
// parent may have been linked after its child.
func (s *Store) rootOf(ctx context.Context, c session.Conversation) (session.Conversation, error) {
	for range store.MaxLine {
		name, err := s.client.HGet(ctx, placeOf(c.ID()).state(), "root").Result()
		if err != nil {
			return c, ifThere(err)
		}
		if c, err = parseName(name); err != nil {
			return c, err
		}
	}
	return c, store.ErrLine
}

// Raise implements verifier.Store.
func (s *Store) Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error {
	ctx, cancel, err := s.begin(ctx, "raise")
	if err != nil {
		return err
	}
	defer cancel()
	root, err := s.rootOf(ctx, c)
	if err != nil {
		return wrap("raise", err)
	}
	return wrap("raise", s.raise(ctx, root, to, source))
}

func (s *Store) raise(ctx context.Context, root session.Conversation, to taint.Level, source string) error {
	p := placeOf(root.ID())
	_, err := s.inEpoch(ctx, p.bucket(), func(id string) (any, error) {
		return raiseScript.Run(ctx, s.client, p.keys(), id, p.hash, nameOf(root), "", string(digit(to)), source, s.floor()).Result()
	})
	return err
}

// Expose implements verifier.Store.
func (s *Store) Expose(ctx context.Context, c session.Conversation, secret string) error {
	if secret == "" {
		return nil
	}
	ctx, cancel, err := s.begin(ctx, "expose")
	if err != nil {
		return err
	}
	defer cancel()
	root, err := s.rootOf(ctx, c)
	if err != nil {
		return wrap("expose", err)
	}
	return wrap("expose", s.expose(ctx, root, secret))
}

func (s *Store) expose(ctx context.Context, root session.Conversation, secret string) error {
	p := placeOf(root.ID())
	_, err := s.inEpoch(ctx, p.bucket(), func(id string) (any, error) {
		return exposeScript.Run(ctx, s.client, p.keys(), id, p.hash, nameOf(root), "", secret, s.floor()).Result()
	})
	return err
}

// Exposed implements verifier.Store.
func (s *Store) Exposed(ctx context.Context, c session.Conversation) (string, error) {
	ctx, cancel, err := s.begin(ctx, "exposed")
	if err != nil {
		return "", err
	}
	defer cancel()
	root, err := s.rootOf(ctx, c)
	if err != nil {
		return "", wrap("exposed", err)
	}
	secret, err := s.client.HGet(ctx, placeOf(root.ID()).state(), "s:"+session.AnySession).Result()
	return secret, wrap("exposed", ifThere(err))
}

// Worst implements verifier.Store.
func (s *Store) Worst(ctx context.Context, c session.Conversation) (taint.Level, error) {
	ctx, cancel, err := s.begin(ctx, "worst")
	if err != nil {
		return taint.Untrusted, err
	}
	defer cancel()
	root, err := s.rootOf(ctx, c)
	if err != nil {
		return taint.Untrusted, wrap("worst", err)
	}
	head, err := s.client.HGet(ctx, placeOf(root.ID()).state(), "h").Result()
	if err != nil {
		return taint.Untrusted, wrap("worst", ifThere(err))
	}
	var n [4]int64 // linked, version, step, worst
	if _, ok := numbers(head, n[:]); !ok {
		return taint.Untrusted, fmt.Errorf("%w: %q is no head", errReply, head)
	}
	return parseLevel(strconv.FormatInt(n[3], 10))
}

func parseLevel(text string) (taint.Level, error) {
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || n >= taint.Levels {
		return taint.Untrusted, fmt.Errorf("%w: %q is no level", errReply, text)
	}
	return taint.Level(n), nil
}

// AutomationFloor implements verifier.Store.
func (s *Store) AutomationFloor(ctx context.Context, client, agent string) (taint.Level, error) {
	return s.automation(ctx, client, agent, "")
}

// RaiseAutomation implements verifier.Store.
func (s *Store) RaiseAutomation(ctx context.Context, client, agent string, to taint.Level) error {
	_, err := s.automation(ctx, client, agent, string(digit(to)))
	return err
}

func (s *Store) automation(ctx context.Context, client, agent, to string) (taint.Level, error) {
	ctx, cancel, err := s.begin(ctx, "automation floor")
	if err != nil {
		return taint.Untrusted, err
	}
	defer cancel()
	bucket, keys := automationKeys(client, agent)
	reply, err := s.inEpoch(ctx, bucket, func(id string) (any, error) {
		return automationScript.Run(ctx, s.client, keys, id, to).Result()
	})
	if err != nil {
		return taint.Untrusted, wrap("automation floor", err)
	}
	f, err := texts([]any{reply}, 1)
	if err != nil {
		return taint.Untrusted, err
	}
	return parseLevel(f[0])
}

// Reset implements approval.Store.
func (s *Store) Reset(ctx context.Context, ref string) (session.Conversation, error) {
	ctx, cancel, err := s.begin(ctx, "reset")
	if err != nil {
		return session.Conversation{}, err
	}
	defer cancel()
	p, err := s.named(ctx, ref)
	if err != nil {
		return session.Conversation{}, wrap("reset", err)
	}
	name, err := resetScript.Run(ctx, s.client, p.keys(p.granted()), "", p.hash, "", "", s.floor()).Text()
	if err != nil {
		if ifThere(err) == nil {
			err = approval.ErrUnknown
		}
		return session.Conversation{}, wrap("reset", err)
	}
	return parseName(name)
}

// named is where the state stands that the conversation with this reference has.
func (s *Store) named(ctx context.Context, ref string) (place, error) {
	hash, err := s.resolve(ctx, strings.ToLower(ref))
	if err != nil {
		return place{}, err
	}
	p := place{prefix: bucketPrefix(hash[:2]), hash: hash}
	name, err := s.client.HGet(ctx, p.state(), "root").Result()
	if ifThere(err) != nil || name == "" {
		return p, ifThere(err)
	}
	root, err := parseName(name)
	if err == nil {
		root, err = s.rootOf(ctx, root)
	}
	return placeOf(root.ID()), err
}

// resolve finds the one conversation whose hash begins like this and whose state
// is there.
func (s *Store) resolve(ctx context.Context, prefix string) (string, error) {
	if !isHex(prefix) { // it would be a pattern
		return "", approval.ErrUnknown
	}
	var found []string
	for n := range buckets {
		bucket := bucketName(n)
		if !strings.HasPrefix(bucket, prefix) && !strings.HasPrefix(prefix, bucket) {
			continue
		}
		live, err := s.liveIn(ctx, bucket, prefix)
		if err != nil {
			return "", err
		}
		if found = append(found, live...); len(found) > 1 {
			return "", approval.ErrAmbiguous
		}
	}
	if len(found) == 0 {
		return "", approval.ErrUnknown
	}
	return found[0], nil
}

// liveIn lists the conversations of a bucket that begin like this and still have
// their state.
func (s *Store) liveIn(ctx context.Context, bucket, prefix string) ([]string, error) {
	var hashes []string
	known := s.client.SScan(ctx, bucketPrefix(bucket)+"known", 0, prefix+"*", 1000).Iterator()
	for known.Next(ctx) {
		hashes = append(hashes, known.Val())
	}
	if err := known.Err(); err != nil || len(hashes) == 0 {
		return nil, err
	}
	slices.Sort(hashes) // a scan may name one twice
	hashes = slices.Compact(hashes)
	cmds := make([]*goredis.IntCmd, len(hashes))
	_, err := s.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i, h := range hashes {
			cmds[i] = p.Exists(ctx, bucketPrefix(bucket)+"s:"+h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var live []string
	for i, h := range hashes {
		if cmds[i].Val() == 1 {
			live = append(live, h)
		}
	}
	return live, nil
}
