// Command bench measures what a decision costs, beside what one can't do
// without: a constant net/http handler is the unit, a server that only checks
// signatures and decodes is the floor without a store, and the same server with
// one plain GET is the floor with one.
//
// Each server is a process of its own, this program started again in a role, so
// that its CPU time is its own; the load comes from this process over raw
// connections. The slices of all servers are interleaved and every ratio is
// taken within one round, so that a machine that is busy elsewhere slows both
// sides of it. The Redis is a real one, started here and ended here.
//
// It fails (exit 1) when a target is missed by more than noise, when a call is
// not allowed, and when an allow takes more than one trip to the store. With
// -short it is a smoke test: it reports, and fails only on what noise can't
// explain.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// options are the flags.
type options struct {
	short      bool
	rounds     int
	calls      int
	connect    int
	pin        bool
	only       string
	cpuprofile string
	others     string
	held       bool
	page       string
}

func main() {
	switch name := os.Getenv(roleVariable); name {
	case "":
	default:
		exit(serveRole(name))
		return
	}
	var o options
	flag.BoolVar(&o.short, "short", false, "a few small slices; reports the ratios, fails on anything else")
	flag.IntVar(&o.rounds, "rounds", 0, "slices of each server (default 21, short 5)")
	flag.IntVar(&o.calls, "calls", 0, "calls in a slice (default 8000, short 1500)")
	flag.IntVar(&o.connect, "connections", 16, "keep-alive connections")
	flag.BoolVar(&o.pin, "pin", true, "keep the servers on one core and the rest off it (Linux)")
	flag.StringVar(&o.only, "only", "", "measure only this role beside the constant handler: strict, get, redis, embedded, opa")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "directory for one CPU profile of each server")
	flag.StringVar(&o.others, "others", "", "directory with OPA's server, as scripts/bench-others builds it")
	flag.StringVar(&o.page, "page", "", "put the table into this page of the documentation, unless the run is a short one or -only")
	flag.BoolVar(&o.held, "held", false, "measure ours with Redis while it holds thousands of calls for a person: memory, allows beside them, waking, taps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, o))
}

// errMissed ends the program without another word: the table said it.
var errMissed = errors.New("a target was missed")

func exit(err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, errMissed) {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(1)
}

// run measures and prints.
func run(ctx context.Context, o options) error {
	if _, known := findRole(o.only); o.only != "" && !known {
		return fmt.Errorf("there is no role %q\nhint: see -h", o.only)
	}
	o.defaults()
	if o.held {
		return held(ctx, o)
	}
	r, err := measure(ctx, o, o.chosen())
	if err != nil {
		return err
	}
	fmt.Print(r.String())
	if err := o.publish("bench", r.String()); err != nil {
		return err
	}
	if !r.holds() {
		return errMissed
	}
	return nil
}

// measure runs some servers beside each other.
func measure(ctx context.Context, o options, these []role) (*report, error) {
	b, err := open(ctx, o, these)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	measured, err := b.measure(ctx)
	script, scriptErr := b.redis.scriptCost(ctx)
	if err = errors.Join(err, scriptErr, b.close()); err != nil {
		return nil, err
	}
	return &report{o: o, pinned: b.pinned, bytes: b.bytes, rows: measured, script: script}, nil
}

func (o *options) defaults() {
	rounds, calls := 21, 8000
	if o.short {
		rounds, calls = 5, 1500
	}
	if o.rounds <= 0 {
		o.rounds = rounds
	}
	if o.calls <= 0 {
		o.calls = calls
	}
	o.connect = max(1, o.connect)
	if o.short || o.only != "" {
		o.page = ""
	}
}
