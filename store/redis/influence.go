package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// Influences implements approval.Store.
func (s *Store) Influences(ctx context.Context, ref string) (session.Account, error) {
	ctx, cancel, err := s.begin(ctx, "influences")
	if err != nil {
		return session.Account{}, err
	}
	defer cancel()
	p, err := s.named(ctx, ref)
	if err != nil {
		return session.Account{}, wrap("influences", err)
	}
	fields, err := s.client.HGetAll(ctx, p.state()).Result()
	switch {
	case err != nil:
		return session.Account{}, wrap("influences", err)
	case len(fields) == 0:
		return session.Account{}, approval.ErrUnknown
	}
	return account(fields)
}

// account reads it out of a conversation's state.
func account(fields map[string]string) (a session.Account, err error) {
	var n [4]int64 // linked, version, step, worst
	if _, ok := numbers(fields["h"], n[:]); !ok {
		return a, fmt.Errorf("%w: %q is no head", errReply, fields["h"])
	}
	name, errName := parseName(fields["name"])
	level, errLevel := parseLevel(strconv.FormatInt(n[3], 10))
	a.Conversation, a.Level = name, level
	for field, rows := range fields {
		id, is := strings.CutPrefix(field, "o:")
		if !is {
			continue
		}
		some, ok := session.ParseInfluences(id, rows)
		if !ok {
			return a, fmt.Errorf("%w: %q are no influences", errReply, rows)
		}
		a.Influences = append(a.Influences, some...)
	}
	slices.SortFunc(a.Influences, func(a, b session.Influence) int { return cmp.Compare(a.Number, b.Number) })
	return a, errors.Join(errName, errLevel)
}

// Endorse implements approval.Store.
func (s *Store) Endorse(ctx context.Context, ref string, number int64, vouch bool, last time.Time) (session.Endorsement, error) {
	ctx, cancel, err := s.begin(ctx, "endorse")
	if err != nil {
		return session.Endorsement{}, err
	}
	defer cancel()
	p, err := s.named(ctx, ref)
	if err != nil {
		return session.Endorsement{}, wrap("endorse", err)
	}
	reply, err := endorseScript.Run(ctx, s.client, p.keys(p.granted()), "", p.hash, "", "", number, flag(vouch), last.UnixMilli(), s.floor()).Result()
	switch {
	case errors.Is(err, goredis.Nil):
		return session.Endorsement{}, approval.ErrUnknown
	case err != nil:
		return session.Endorsement{}, wrap("endorse", err)
	case reply == "none":
		return session.Endorsement{}, approval.ErrNoSource
	case reply == "again":
		return session.Endorsement{}, approval.ErrAgain
	case reply == "fixed":
		return session.Endorsement{}, approval.ErrFixed
	}
	return endorsed(reply)
}

func endorsed(reply any) (e session.Endorsement, err error) {
	f, err := texts(reply, 5)
	if err != nil {
		return e, err
	}
	some, ok := session.ParseInfluences(f[1], f[2])
	if !ok || len(some) != 1 {
		return e, fmt.Errorf("%w: %q", errReply, f)
	}
	name, errName := parseName(f[0])
	before, errBefore := parseLevel(f[3])
	after, errAfter := parseLevel(f[4])
	return session.Endorsement{Conversation: name, Influence: some[0], Before: before, After: after}, errors.Join(errName, errBefore, errAfter)
}
