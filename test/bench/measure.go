package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// bench is everything that runs during a measurement.
type bench struct {
	o         options
	dir       string
	pinned    bool
	again     int // slices that were taken again
	redis     redisServer
	databases int       // of Redis that are in use
	all       []*server // Redis, too
	servers   []*server // that are compared
}

// open builds the program and starts Redis. What it returns must be closed, even with an error.
func open(ctx context.Context, o options) (b *bench, err error) {
	b = &bench{o: o}
	if b.dir, err = os.MkdirTemp("", "verifier-bench-"); err != nil {
		return b, err
	}
	if err := build(ctx, b.dir); err != nil {
		return b, err
	}
	if !o.held { // calls that are all answered at once may use the whole machine
		b.pinned = pin(ctx)
	}
	return b, b.startRedis(ctx)
}

func (b *bench) close() error {
	for _, s := range b.all {
		s.stop()
	}
	return os.RemoveAll(b.dir)
}

// slice is one turn of one server.
type slice struct {
	calls   int
	elapsed time.Duration
	cpu     time.Duration
	trips   int64
}

// decisions measures allows: all servers in turn, after a round that warms up and is not counted.
func (b *bench) decisions(ctx context.Context) (string, []check, error) {
	for _, k := range kinds {
		if _, err := os.Stat(filepath.Join(b.o.others, "opa")); k.name == "opa" && err != nil {
			continue
		}
		s, err := b.start(ctx, k)
		if err != nil {
			return "", nil, err
		}
		b.servers = append(b.servers, s)
	}
	for round := range b.o.rounds + 1 {
		for _, s := range b.servers {
			measured, err := b.undisturbed(ctx, s)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", s.title, err)
			}
			if round > 0 {
				s.slices = append(s.slices, measured)
			}
		}
	}
	hook, err := firstByte(ctx, b.dir)
	return b.table(), b.checks(b.redis.scriptCost(ctx), hook), err
}

// undisturbed takes a slice. On a machine that is so busy that Redis does not get to answer within its 250 ms, ours
// denies, as it must; such a slice says nothing about speed and is taken again, a few times in a run, aloud.
func (b *bench) undisturbed(ctx context.Context, s *server) (slice, error) {
	for {
		m, err := b.slice(ctx, s)
		if !errors.Is(err, errReply) || b.again == 5 {
			return m, err
		}
		b.again++
		fmt.Fprintf(os.Stderr, "note: a slice is taken again: %s: %v\n", s.title, err)
	}
}

func (b *bench) slice(ctx context.Context, s *server) (m slice, err error) {
	name, requests := sliceName(), make([][]byte, b.o.calls)
	for i := range requests {
		requests[i] = s.request(ownersCall(name, i))
	}
	trips, cpu := b.redis.trips(ctx), s.cpu()
	m.calls, m.elapsed, err = s.load.run(ctx, requests)
	m.cpu = s.cpu() - cpu
	m.trips = b.redis.trips(ctx) - trips - 1 // the question itself is one
	return m, err
}
