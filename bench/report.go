package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the table and what it must hold.
type report struct {
	o      options
	pinned bool
	bytes  int
	rows   []row         // the first is the unit
	script time.Duration // what Redis itself needs for a script
}

// tripSlack leaves room for the record's head, which goes to the store once a
// second and belongs to no call.
const tripSlack = 0.01

// designCPU is what the design allows a call with Redis.
const designCPU = 75 * time.Microsecond

func (r *report) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "One signed exec call by the owner, allowed by its level: %d bytes on the wire, %d connections, %d conversations.\n",
		r.bytes, r.o.connect, conversations)
	fmt.Fprintf(w, "%d rounds of %d calls each, interleaved; medians; %s.\n", r.o.rounds, r.o.calls, machine(r.pinned))
	fmt.Fprintf(w, "\n%-50s %10s %8s %13s %12s\n", "", "calls/s", "ratio", "quartiles", "CPU/call")
	for _, row := range r.rows {
		q := quartiles(row.ratios(r.rows[0]))
		fmt.Fprintf(w, "%-50s %10.0f %8.2f %13s %9.1f µs\n", row.title, row.perSecond(), q[1],
			fmt.Sprintf("%.2f – %.2f", q[0], q[2]), micros(row.cpu()))
	}
	fmt.Fprintln(w)
	for _, c := range r.checks() {
		fmt.Fprintf(w, "%s  %s\n", c.word, c.text)
	}
	return w.String()
}

func machine(pinned bool) string {
	where := "servers, client and Redis share all cores"
	if pinned {
		where = "servers alone on one core, client and Redis on the rest"
	}
	return fmt.Sprintf("%s, %s/%s, %d CPUs, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), where)
}

// check is one target.
type check struct {
	word string // PASS, MISSED or note
	text string
}

// missed is the word for a number that is not reached.
const missed = "MISSED"

func (r *report) holds() bool {
	return !slices.ContainsFunc(r.checks(), func(c check) bool { return c.word == missed })
}

func (r *report) checks() []check {
	var out []check
	for _, row := range r.rows {
		if row.target > 0 {
			out = append(out, r.ratio(row))
		}
		if row.name == "redis" {
			out = append(out, row.oneTrip(), row.cheap(), check{"note", fmt.Sprintf(
				"Redis itself is busy %.1f µs with each script: one Redis can't decide more than %.0f calls/s", micros(r.script), 1/r.script.Seconds())})
		}
	}
	return append(out, r.besideOthers()...)
}

// besideOthers holds ours with Redis against the servers that others wrote.
func (r *report) besideOthers() (out []check) {
	ours, found := r.find("redis")
	if !found || r.o.only != "" {
		return nil
	}
	for _, role := range roles {
		if role.times == 0 {
			continue
		}
		row, found := r.find(role.name)
		if !found {
			out = append(out, check{"note", role.title + " was not measured: it is not here; make bench builds it where the network allows"})
			continue
		}
		out = append(out, holdTarget(ours.ratios(row), role.times, r.o.short, fmt.Sprintf("%s: at least %.1f times %s", ours.title, role.times, row.title)))
	}
	return out
}

func (r *report) find(name string) (row, bool) {
	i := slices.IndexFunc(r.rows, func(row row) bool { return row.name == name })
	if i < 0 {
		return row{}, false
	}
	return r.rows[i], true
}

func (r *report) ratio(row row) check {
	return holdTarget(row.ratios(r.rows[0]), row.target, r.o.short, fmt.Sprintf("%s: at least %.2f of the constant handler", row.title, row.target))
}

// holdTarget holds a target against the rounds. A short run has too few of them to
// tell, and only reports.
func holdTarget(ratios []float64, target float64, short bool, text string) check {
	q := quartiles(ratios)
	text += fmt.Sprintf(": %.2f", q[1])
	switch {
	case q[1] >= target:
		return check{"PASS", text}
	case short:
		return check{"note", text + " (a short run can't tell)"}
	default:
		return check{missed, text}
	}
}

func (r row) oneTrip() check {
	var calls, trips int64
	for _, s := range r.slices {
		calls, trips = calls+int64(s.calls), trips+s.trips
	}
	n := float64(trips) / float64(calls)
	c := check{"PASS", fmt.Sprintf("store round trips per allowed call: %.2f (%d trips on the socket, %d calls)", n, trips, calls)}
	if n > 1+tripSlack { // calls that wait together may share one
		c.word = missed
	}
	return c
}

// cheap compares with the design's number, which is for one machine: a
// miss is printed and does not fail the run.
func (r row) cheap() check {
	text := fmt.Sprintf("%s: at most %d µs CPU a call: %.1f µs", r.title, designCPU.Microseconds(), micros(r.cpu()))
	if r.cpu() > designCPU {
		text = missed + ", which counts only where the constant handler takes 15 µs: " + text
	}
	return check{"note", text}
}

// ratios compares each slice with the unit's of the same round.
func (r row) ratios(unit row) []float64 {
	out := make([]float64, len(r.slices))
	for i, s := range r.slices {
		out[i] = s.perSecond() / unit.slices[i].perSecond()
	}
	return out
}

func (r row) perSecond() float64 {
	return quartiles(each(r.slices, slice.perSecond))[1]
}

func (r row) cpu() time.Duration {
	return quartiles(each(r.slices, slice.cpuPerCall))[1]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func each[T any](s []slice, f func(slice) T) []T {
	out := make([]T, len(s))
	for i := range s {
		out[i] = f(s[i])
	}
	return out
}

// quartiles are the values a quarter, half and three quarters up.
func quartiles[T int64 | float64 | time.Duration](values []T) [3]T {
	s := slices.Sorted(slices.Values(values))
	return [3]T{s[(len(s)-1)/4], s[(len(s)-1)/2], s[(3*(len(s)-1)+3)/4]}
}
