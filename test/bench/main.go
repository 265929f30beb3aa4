// Command bench measures what a decision costs. A constant net/http handler is the unit; beside it are
// verifier itself with Redis and with SQLite, and OPA's server. With -held it
// measures instead what thousands of calls cost that wait for a person.
//
// Each server is a process of its own, and ours is the real program, with a config and a state directory of this run.
// The load comes from this process over raw connections. The slices of all servers are interleaved and every ratio is
// taken within one round, so that a machine that is busy elsewhere slows both sides of it.
//
// It fails (exit 1) when a target is missed and when a call is not allowed. With -short it is a smoke test: it reports
// the targets and fails only where a call is not allowed. Run it from the root of the repository.
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
	short  bool
	held   bool
	others string
	page   string
	rounds int // slices of each server, or gateways that hold
	calls  int // in a slice, or held
}

func main() {
	if address := os.Getenv(listenVariable); address != "" {
		fmt.Fprintln(os.Stderr, serveFloor(address))
		return
	}
	var o options
	flag.BoolVar(&o.short, "short", false, "a few small slices: reports the targets, does not fail for them")
	flag.BoolVar(&o.held, "held", false, "measure calls that wait for a person: memory, and how soon all are answered")
	flag.StringVar(&o.others, "others", "", "directory with OPA's server, as scripts/bench-others builds it")
	flag.StringVar(&o.page, "page", "", "put the table into this page of the documentation, unless -short")
	flag.Parse()
	o.defaults()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1) //nolint:gocritic // the process ends, and what it catches signals with
	}
}

// defaults are how much is measured.
func (o *options) defaults() {
	switch {
	case o.held && o.short:
		o.rounds, o.calls = 1, 1000
	case o.held:
		o.rounds, o.calls = 3, 10_000
	case o.short:
		o.rounds, o.calls = 5, 1500
	default:
		o.rounds, o.calls = 21, 8000
	}
	if o.short {
		o.page = ""
	}
}

// run measures, prints, and writes into the page.
func run(ctx context.Context, o options) (err error) {
	b, err := open(ctx, o)
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return err
	}
	section, measure := "bench", b.decisions
	if o.held {
		section, measure = "held", b.waits
	}
	table, checks, err := measure(ctx)
	if err != nil {
		return err
	}
	for _, c := range checks {
		table += c.String()
		if !c.ok && !o.short {
			err = errors.New("a target was missed")
		}
	}
	fmt.Print(table)
	return errors.Join(publish(o.page, section, table), err)
}
