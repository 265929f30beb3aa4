package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Admit implements verifier.Store.
func (s *Store) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	by := time.Now().Add(s.timeout)
	if err := s.acquainted(ctx); err != nil {
		return session.View{}, wrap("admit", err)
	}
	reply, err := s.inEpoch(ctx, placeOf(a.At()).bucket(), func(epoch string) (any, error) {
		return s.admits.send(ctx, admitCall(&a, epoch, s.floor()), by)
	})
	if err != nil {
		return session.View{}, wrap("admit", err)
	}
	v, err := admitted(reply)
	s.saw(v.Now)
	return v, err
}

func admitted(reply any) (session.View, error) {
	if text, ok := reply.(string); ok {
		return view(text)
	}
	f, err := texts(reply, 2)
	if err != nil {
		return session.View{}, err
	}
	switch {
	case f[0] == "conflict":
		now, err := milliTime(f[1])
		return session.View{Entry: session.Conflict, Now: now}, err
	case f[0] == "moved" && len(f) == 3:
		return movedView(f[1], f[2])
	case f[0] == braked && len(f) == 3:
		return session.View{Entry: session.Braked, Paused: [2]string{f[1], f[2]}}, nil
	case len(f) < 3:
		return session.View{}, fmt.Errorf("%w: %q", errReply, f)
	}
	v, err := view(f[0])
	v.Standing, v.Waiting = f[1], f[2]
	if len(f) > 3 {
		v.Secret, v.Grants = f[3], f[4:]
	}
	return v, err
}

// braked is the answer of a script that met other pauses than it was told.
const braked = "braked"

func movedView(name, now string) (session.View, error) {
	root, errName := parseName(name)
	at, errTime := milliTime(now)
	return session.View{Entry: session.Moved, Root: root, Now: at}, errors.Join(errName, errTime)
}

// view reads what state.lua's view wrote: seven digits, the time, and the head:
// linked, version, step, worst, generation, touched, source.
func view(text string) (session.View, error) {
	small, rest, _ := strings.Cut(text, " ")
	var n [7]int64
	source, ok := numbers(rest, n[:])
	if !ok || len(small) != 7 {
		return session.View{}, fmt.Errorf("%w: %q", errReply, text)
	}
	v := session.View{
		Entry: session.Entry(small[0] - '0'), Replayed: small[1] == '1', Lost: small[2] == '1', Capped: small[3] == '1',
		Mode: taint.Mode(small[4] - '0'), Level: taint.Level(small[5] - '0'), After: taint.Level(small[6] - '0'),
		Now: time.UnixMilli(n[0]), Version: n[2], Step: n[3], Generation: n[5],
	}
	if v.Entry > session.Refused || v.Mode > taint.Restrict || !v.Level.Valid() || !v.After.Valid() {
		return session.View{}, fmt.Errorf("%w: %q", errReply, text)
	}
	var err error
	v.Worst, err = parseSource(source)
	return v, err
}

// numbers reads as many numbers as there is room for, each with a space behind
// it, and gives what follows.
func numbers(text string, into []int64) (rest string, ok bool) {
	for i := range into {
		if into[i], text, ok = number(text, ' '); !ok {
			return "", false
		}
	}
	return text, true
}

// number reads a number as our scripts write one: digits, fewer than could be too
// many, and what ends it.
func number(text string, end byte) (n int64, rest string, ok bool) {
	for i := range min(len(text), 19) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		default:
			return n, text[i+1:], c == end && i > 0
		}
	}
	return 0, "", false
}

// parseSource reads level:step:label; nothing is no source.
func parseSource(text string) (session.Source, error) {
	if text == "" {
		return session.Source{}, nil
	}
	level, rest, isLevel := number(text, ':')
	step, label, isStep := number(rest, ':')
	if !isLevel || !isStep || level >= taint.Levels {
		return session.Source{}, fmt.Errorf("%w: %q is no source", errReply, text)
	}
	return session.Source{Label: label, Level: taint.Level(level), Step: step}, nil //nolint:gosec // below Levels
}

// Settle implements verifier.Store.
func (s *Store) Settle(ctx context.Context, st session.Settlement) (session.Settled, error) {
	by := time.Now().Add(s.timeout)
	if err := s.acquainted(ctx); err != nil {
		return session.Settled{}, wrap("settle", err)
	}
	reply, err := s.settles.send(ctx, settleCall(st, s.floor()), by)
	if err != nil {
		return session.Settled{}, wrap("settle", err)
	}
	out, err := settled(reply)
	s.saw(out.View.Now)
	return out, err
}

// Deny implements verifier.Store: all of them go in one trip.
func (s *Store) Deny(ctx context.Context, denials ...session.Denial) error {
	if len(denials) == 0 {
		return nil
	}
	by := time.Now().Add(s.timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(by) {
		by = end
	}
	if err := s.acquainted(ctx); err != nil {
		return wrap("deny", err)
	}
	together := make([]*request, len(denials))
	for i := range denials {
		together[i] = newRequest(denyCall(&denials[i], s.floor()), by)
	}
	s.settles.run(together)
	var failed error
	for _, r := range together {
		<-r.done
		failed = cmp.Or(failed, r.err)
	}
	return wrap("deny", failed)
}

// claimed is what settle.lua gets: version 0 claims nothing, so a claim of
// version 0, which no card has, must not look like that.
func claimed(c *session.Claim) session.Claim {
	switch {
	case c == nil:
		return session.Claim{}
	case c.Version == 0:
		return session.Claim{Card: c.Card, Version: -1}
	}
	return *c
}

func settled(reply any) (session.Settled, error) {
	f, err := texts(reply, 3)
	if err != nil {
		return session.Settled{}, err
	}
	if f[0] == braked {
		return session.Settled{State: session.Halted, View: session.View{Paused: [2]string{f[1], f[2]}}}, nil
	}
	state, err := strconv.ParseUint(f[0], 10, 8)
	if err != nil || state > uint64(session.Taken) {
		return session.Settled{}, fmt.Errorf("%w: %q", errReply, f)
	}
	v, err := view(f[1])
	v.Standing = f[2]
	if len(f) > 3 {
		v.Secret = f[3]
	}
	return session.Settled{State: session.Settling(state), View: v}, err
}
