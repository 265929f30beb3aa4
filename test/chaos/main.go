// Chaos shows from the outside what the gateway promises under fire. It starts two gateways from the real binary, a
// real Redis (one node, then Sentinel, then a Cluster of three), toxiproxy between them, and fakes of the chats; agents
// call, an owner taps, and meanwhile parts are killed, stopped, cut off, slowed down and put into another time. What
// every agent was told, what the owner tapped and what the two records say is then held against each other.
//
// It looks at nothing inside the gateways, touches nothing but loopback and a directory of its own, and refuses to call
// a run good in which anything was wrongly allowed, left unanswered, or is missing from the record.
//
// Run it from the root of the repository: `make chaos`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// plan is what a run is asked for.
type plan struct {
	seed      uint64
	calls     int           // for each kind of Redis
	most      time.Duration // for each kind of Redis
	only      string
	toxiproxy string
	report    string
}

func main() {
	var p plan
	flag.Uint64Var(&p.seed, "seed", 1, "the seed of the calls, the taps and the faults")
	flag.IntVar(&p.calls, "calls", 3000, "calls for each kind of Redis")
	flag.DurationVar(&p.most, "for", 4*time.Minute, "the longest time for each kind of Redis")
	flag.StringVar(&p.only, "only", "", "single, sentinel or cluster; empty: all of them")
	flag.StringVar(&p.toxiproxy, "toxiproxy", "", "the binary of toxiproxy's server")
	flag.StringVar(&p.report, "report", "", "a page to write the report into, under its heading The run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, p); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1) //nolint:gocritic // the process ends, and what it catches signals with
	}
}

func run(ctx context.Context, p plan) error {
	dir, err := os.MkdirTemp("", "verifier-chaos-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory that stays does no harm
	tools, err := prepare(ctx, dir, p.toxiproxy)
	if err != nil {
		return err
	}
	var results []result
	var bad []error
	for _, kind := range kinds {
		if p.only != "" && p.only != kind {
			continue
		}
		r, err := storm(ctx, filepath.Join(dir, kind), kind, p, tools)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		fmt.Println(kind + " done")
		results = append(results, r)
		bad = append(bad, r.faulty())
	}
	if len(results) == 0 {
		return fmt.Errorf("there is no kind of Redis called %q", p.only)
	}
	fmt.Print(table(results))
	if p.report != "" {
		bad = append(bad, publish(p.report, table(results)))
	}
	return errors.Join(bad...)
}

// storm is one run against one kind of Redis.
func storm(ctx context.Context, dir, kind string, p plan, t tools) (out result, err error) {
	w, err := build(ctx, dir, kind, p, t)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.ready(ctx, 20*time.Second); err != nil {
		return out, err
	}
	began := time.Now()
	watched := w.watched()
	inner, cancel := context.WithTimeout(ctx, p.most)
	defer cancel()
	w.fire(inner)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	w.mend()
	recovered := w.ready(ctx, 20*time.Second)
	if recovered == nil {
		recovered = w.aftermath(ctx)
	}
	watched()
	if err := w.stop(); err != nil {
		return out, err
	}
	out, err = w.judge()
	out.took = time.Since(began)
	if recovered != nil {
		out.wrongs = append(out.wrongs, wrong{"not recovered", recovered.Error()})
	}
	return out, err
}
