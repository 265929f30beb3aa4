package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (h *holding) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%d signed exec calls held at once, each for a person of its own question, conversation and connection.\n", h.n)
	fmt.Fprintf(w, "%d pauses, as many stops; %d taps; %d rounds of %d allows beside them, interleaved; medians; %s.\n\n",
		h.wakes(), tapsEach, h.o.rounds, h.o.calls, machine(h.pinned))
	h.memoryTable(w)
	h.wakeTable(w)
	for _, c := range h.checks() {
		fmt.Fprintf(w, "%s  %s\n", c.word, c.text)
	}
	return w.String()
}

func (h *holding) memoryTable(w *strings.Builder) {
	fmt.Fprintf(w, "%-50s %10s %10s %10s %12s\n", "of each held call", "memory", "heap", "stacks", "uncollected")
	for _, row := range []struct {
		title string
		memory
	}{{heldRoles[2].title, h.bare}, {heldRoles[1].title, h.each}} {
		fmt.Fprintf(w, "%-50s %7.1f KB %7.1f KB %7.1f KB %9.1f KB\n", row.title, kilobytes(row.resident), kilobytes(row.heap), kilobytes(row.stacks), kilobytes(row.grown))
	}
}

func (h *holding) wakeTable(w *strings.Builder) {
	fmt.Fprintf(w, "\n%-50s %10s %13s\n", "until the last of them has its answer", "median", "range")
	fmt.Fprintf(w, "%-50s %7.0f ms\n", "the handler that only waits, let go", millis(h.floor))
	for _, row := range []struct {
		title string
		took  []time.Duration
	}{{"the owner pauses all agents", h.paused}, {"the gateway is stopped", h.stopped}} {
		ends := fmt.Sprintf("%.0f – %.0f", millis(slices.Min(row.took)), millis(slices.Max(row.took)))
		fmt.Fprintf(w, "%-50s %7.0f ms %13s\n", row.title, millis(quartiles(row.took)[1]), ends)
	}
	fmt.Fprintf(w, "\n%-50s %10s %13s\n", "from the owner's yes to the caller's answer", "median", "quartiles")
	for _, row := range []struct {
		title string
		took  []time.Duration
	}{{"while nothing else waits", h.taps}, {fmt.Sprintf("while %d others are held", h.n), h.beside}} {
		q := quartiles(row.took)
		fmt.Fprintf(w, "%-50s %7.1f ms %13s\n", row.title, millis(q[1]), fmt.Sprintf("%.1f – %.1f", millis(q[0]), millis(q[2])))
	}
	fmt.Fprintf(w, "\n%-50s %10s %12s\n", "allows beside them", "calls/s", "CPU/call")
	for _, row := range h.allowing {
		fmt.Fprintf(w, "%-50s %10.0f %9.1f µs\n", row.title, row.perSecond(), micros(row.cpu()))
	}
	fmt.Fprintln(w)
}

func (h *holding) checks() []check {
	return []check{
		h.within(h.each.resident <= maxHeldBytes, fmt.Sprintf("a held call keeps at most %d KB: %.1f KB", maxHeldBytes/1000, kilobytes(h.each.resident))),
		holdTarget(h.allowing[1].ratios(h.allowing[0]), heldTarget, h.o.short,
			fmt.Sprintf("allows beside %d held calls: at least %.1f of those beside none", h.n, heldTarget)),
		h.woken("a pause", h.paused),
		h.woken("a stop", h.stopped),
		h.within(quartiles(h.taps)[1] < maxTap, fmt.Sprintf("from the owner's yes to the caller's answer, median of %d, under %v: %.1f ms", len(h.taps), maxTap, millis(quartiles(h.taps)[1]))),
	}
}

func (h *holding) woken(by string, took []time.Duration) check {
	median := quartiles(took)[1]
	return h.within(median <= maxWake, fmt.Sprintf("%s: the last of %d has its answer within %v, median of %d: %.0f ms", by, h.n, maxWake, len(took), millis(median)))
}

func (h *holding) holds() bool {
	return !slices.ContainsFunc(h.checks(), func(c check) bool { return c.word == missed })
}

// within holds a bound. A short run, which is for machines that are busy, only
// reports.
func (h *holding) within(ok bool, text string) check {
	switch {
	case ok:
		return check{"PASS", text}
	case h.o.short:
		return check{"note", text + " (missed; a short run only reports)"}
	}
	return check{missed, text}
}

func kilobytes(n int64) float64 { return float64(n) / 1000 }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
