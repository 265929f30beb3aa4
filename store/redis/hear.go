package redis

import (
	"context"
	"fmt"

	"github.com/openclaw-verifier/verifier/session"
)

// Hear implements verifier.Store.
func (s *Store) Hear(ctx context.Context, r session.Report) (session.Heard, error) {
	ctx, cancel, err := s.begin(ctx, "hear")
	if err != nil {
		return session.Heard{}, err
	}
	defer cancel()
	p := placeOf(r.Conversation.ID())
	reply, err := s.inEpoch(ctx, p.bucket(), func(id string) (any, error) {
		return hearScript.Run(ctx, s.client, p.keys(p.request(r.RequestID), p.run(r.Halted), p.granted()), id, p.hash, nameOf(r.Conversation), r.Session,
			flag(r.Start)+string(digit(r.Raise))+string(digit(r.Birth))+flag(r.Tool), string(r.Body[:]), life(r.Keep), r.Source, r.Next,
			markOf(r.Ended != "", r.Ended), markOf(r.Closed, r.Window), halted(r.Halted), r.Secret, s.floor()).Result()
	})
	if err != nil {
		return session.Heard{}, wrap("hear", err)
	}
	h, err := heard(reply)
	s.saw(h.Now)
	return h, err
}

func markOf(is bool, name string) string {
	if !is {
		return ""
	}
	return session.GrantMark(name)
}

func halted(run string) any {
	if run == "" {
		return ""
	}
	return session.HaltedCalls
}

func heard(reply any) (session.Heard, error) {
	f, err := texts(reply, 2)
	if err != nil {
		return session.Heard{}, err
	}
	switch {
	case f[0] == "conflict":
		now, err := milliTime(f[1])
		return session.Heard{Conflict: true, Now: now}, err
	case f[0] == "moved" && len(f) == 3:
		v, err := movedView(f[1], f[2])
		return session.Heard{Moved: true, Root: v.Root, Now: v.Now}, err
	case f[1] != "0" && f[1] != "1":
		return session.Heard{}, fmt.Errorf("%w: %q", errReply, f)
	}
	v, err := view(f[0])
	return session.Heard{
		Replayed: v.Replayed, Known: f[1] == "1", Lost: v.Lost, Before: v.Level, Level: v.After,
		Step: v.Step, Version: v.Version, Generation: v.Generation, Worst: v.Worst, Now: v.Now,
	}, err
}
