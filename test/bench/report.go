package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// table shows the decisions; the first server is the unit.
func (b *bench) table() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "An exec call by the owner, allowed by its level: %d bytes, %d connections, %d conversations.\n"+
		"%d rounds of %d calls each, interleaved; medians; %s.\n", len(signed(ownersCall(sliceName(), 0))), connections,
		conversations, b.o.rounds, b.o.calls, b.machine())
	fmt.Fprintf(w, "\n%-36s %10s %8s %13s %12s\n", "", "calls/s", "ratio", "quartiles", "CPU/call")
	for _, s := range b.servers {
		q := quartiles(s.ratios(b.servers[0]))
		fmt.Fprintf(w, "%-36s %10.0f %8.2f %13s %9.1f µs\n", s.title, quartiles(s.speeds())[1], q[1],
			fmt.Sprintf("%.2f – %.2f", q[0], q[2]), micros(s.cpuPerCall()))
	}
	return w.String() + "\n"
}

func (b *bench) machine() string {
	where := map[bool]string{true: "servers alone on one", false: "shared by all"}[b.pinned]
	return fmt.Sprintf("%s, %s, %d CPUs, %s", runtime.Version(), runtime.GOARCH, runtime.NumCPU(), where)
}

// check is one target.
type check struct {
	ok   bool
	word string // empty: PASS or MISSED
	text string
}

func (c check) String() string {
	word := map[bool]string{true: "PASS", false: "MISSED"}[c.ok]
	return fmt.Sprintf("%-6s  %s\n", cmp.Or(c.word, word), c.text)
}

// The floors of the design.
const (
	redisTarget    = 0.18 // of the constant handler
	embeddedTarget = 0.15
	opaTarget      = 1.2
	maxCPU         = 5.5 // in constant handlers
	maxTrips       = 0.4
	maxHook        = 12 * time.Millisecond
)

func (b *bench) checks(script, hook time.Duration) []check {
	unit, redis, embedded := b.servers[0], b.servers[1], b.servers[2]
	var calls, trips int64
	for _, s := range redis.slices {
		calls, trips = calls+int64(s.calls), trips+s.trips
	}
	cpu, each := float64(redis.cpuPerCall())/float64(max(1, unit.cpuPerCall())), float64(trips)/float64(calls)
	out := []check{
		atLeast(redisTarget, redis.ratios(unit), "ours with Redis, of the constant handler"),
		atLeast(embeddedTarget, embedded.ratios(unit), "ours embedded, of the constant handler"),
		{ok: cpu <= maxCPU, text: fmt.Sprintf("CPU an allow: at most %.1f constant handlers: %.1f", maxCPU, cpu)},
		{ok: trips > 0 && each <= maxTrips, text: fmt.Sprintf("trips an allow: at most %.1f: %.2f", maxTrips, each)},
		{ok: hook <= maxHook, text: fmt.Sprintf("first byte of a hook: within %v: %.1f ms", maxHook, micros(hook)/1e3)},
		{ok: true, word: "note", text: fmt.Sprintf("Redis is busy %.1f µs with each script", micros(script))},
	}
	if len(b.servers) == len(kinds) {
		out = append(out, atLeast(opaTarget, redis.ratios(b.servers[3]), "ours with Redis, of OPA's server"))
	}
	return out
}

func atLeast(target float64, ratios []float64, what string) check {
	median := quartiles(ratios)[1]
	return check{ok: median >= target, text: fmt.Sprintf("%s: at least %.2f: %.2f", what, target, median)}
}

func (s *server) speeds() (out []float64) {
	for _, m := range s.slices {
		out = append(out, float64(m.calls)/m.elapsed.Seconds())
	}
	return out
}

// ratios compares each slice with the unit's of the same round.
func (s *server) ratios(unit *server) []float64 {
	out, of := s.speeds(), unit.speeds()
	for i := range out {
		out[i] /= of[i]
	}
	return out
}

// cpuPerCall is over all slices: the kernel counts in ticks of 10 ms, too coarse for one slice.
func (s *server) cpuPerCall() (sum time.Duration) {
	calls := 0
	for _, m := range s.slices {
		sum, calls = sum+m.cpu, calls+m.calls
	}
	return sum / time.Duration(max(1, calls))
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// quartiles are the values a quarter, half and three quarters up.
func quartiles[T float64 | time.Duration](values []T) [3]T {
	s := slices.Sorted(slices.Values(values))
	return [3]T{s[(len(s)-1)/4], s[(len(s)-1)/2], s[(3*(len(s)-1)+3)/4]}
}
