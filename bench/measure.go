package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"
)

// bench is everything that runs during a measurement.
type bench struct {
	o       options
	dir     string
	pinned  bool
	bytes   int // of a call's body and headers
	again   int // slices that were taken again
	redis   *redisServer
	servers []*process
	loads   []*load
	roles   []role // the first is the unit
}

// maxAgain is how many slices of a run may be taken again.
const maxAgain = 5

// row is what was measured of one server.
type row struct {
	role
	slices []slice
}

// slice is one turn of one server.
type slice struct {
	calls   int
	elapsed time.Duration
	cpu     time.Duration
	trips   int64
}

func (s slice) perSecond() float64 { return float64(s.calls) / s.elapsed.Seconds() }

func (s slice) cpuPerCall() time.Duration { return s.cpu / time.Duration(max(1, s.calls)) }

// open starts Redis and the servers. What it returns must be closed, even with
// an error.
func open(ctx context.Context, o options, measured []role) (b *bench, err error) {
	b = &bench{o: o, roles: measured}
	if b.dir, err = os.MkdirTemp("", "verifier-bench-"); err != nil {
		return b, err
	}
	if o.cpuprofile != "" {
		if err := os.MkdirAll(o.cpuprofile, 0o755); err != nil {
			return b, err
		}
	}
	cores := splitCores(o.pin)
	b.pinned = cores.apart
	if err := cores.rest(); err != nil {
		return b, err
	}
	if b.redis, err = startRedis(ctx, b.dir); err != nil {
		return b, err
	}
	return b, cores.onServers(func() error { return b.start(ctx) })
}

func (b *bench) start(ctx context.Context) error {
	for _, r := range b.roles {
		p, err := b.startServer(ctx, r)
		if err != nil {
			return err
		}
		b.loads = append(b.loads, &load{address: p.address, n: b.o.connect, yes: r.yes()})
	}
	return nil
}

func (b *bench) startServer(ctx context.Context, r role) (*process, error) {
	dir := filepath.Join(b.dir, r.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	p, err := startServer(ctx, r, b.o, dir, b.redis.address)
	if err == nil {
		b.servers = append(b.servers, p)
	}
	return p, err
}

// chosen are the roles to measure. The constant handler is always one: it is the
// unit. The servers of others are there if they were built.
func (o *options) chosen() []role {
	only, _ := findRole(o.only)
	return slices.DeleteFunc(slices.Clone(roles), func(r role) bool {
		if r.name == roles[0].name {
			return false
		}
		return o.only != "" && r.name != o.only && r.name != only.beside || !o.has(r)
	})
}

func (o *options) has(r role) bool {
	if _, foreign := others[r.name]; !foreign {
		return true
	}
	_, err := os.Stat(filepath.Join(o.others, r.name))
	return o.others != "" && err == nil
}

func (b *bench) close() error {
	var errs []error
	for _, l := range b.loads {
		errs = append(errs, l.close())
	}
	for _, p := range slices.Clone(b.servers) {
		errs = append(errs, b.stopServer(p))
	}
	if b.redis != nil {
		errs = append(errs, b.redis.stop())
	}
	if b.dir != "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	return errors.Join(errs...)
}

// stopServer lets one server end before the others.
func (b *bench) stopServer(p *process) error {
	b.servers = slices.DeleteFunc(b.servers, func(other *process) bool { return other == p })
	return p.stop()
}

// measure takes the slices, all servers in turn, after a round that warms up
// and is not counted.
func (b *bench) measure(ctx context.Context) ([]row, error) {
	rows := make([]row, len(b.servers))
	for i, p := range b.servers {
		rows[i].role = p.role
	}
	for round := range b.o.rounds + 1 {
		for i, p := range b.servers {
			b.progress(round, p.role)
			s, err := b.undisturbed(ctx, i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.title, err)
			}
			if round > 0 {
				rows[i].slices = append(rows[i].slices, s)
			}
		}
	}
	b.progress(-1, role{})
	return rows, nil
}

// undisturbed takes a slice. On a machine that is so busy that Redis does not
// get to answer within its 250 ms, ours denies, as it must; such a slice says
// nothing about speed and is taken again, a few times in a run, aloud.
func (b *bench) undisturbed(ctx context.Context, i int) (slice, error) {
	for {
		s, err := b.slice(ctx, i)
		if !errors.Is(err, errReply) || b.again == maxAgain {
			return s, err
		}
		b.again++
		fmt.Fprintf(os.Stderr, "note: a slice is taken again: %s: %v\n", b.servers[i].title, err)
	}
}

func (b *bench) slice(ctx context.Context, i int) (s slice, err error) {
	requests := b.servers[i].requestsFor(b.o.calls)
	if i == 0 {
		b.bytes = len(requests[0])
	}
	before, err := b.servers[i].usage()
	if err != nil {
		return s, err
	}
	if s.calls, s.elapsed, err = b.loads[i].run(ctx, requests); err != nil {
		return s, err
	}
	after, err := b.servers[i].usage()
	s.cpu, s.trips = after.cpu-before.cpu, after.trips-before.trips
	return s, err
}

// progress says on a terminal how far it is; a negative round wipes the line.
func (b *bench) progress(round int, r role) {
	switch {
	case !term.IsTerminal(int(os.Stderr.Fd())):
	case round < 0:
		fmt.Fprint(os.Stderr, "\r\033[K")
	case round == 0:
		fmt.Fprintf(os.Stderr, "\r\033[Kwarming up: %s", r.title)
	default:
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d of %d: %s", round, b.o.rounds, r.title)
	}
}
