package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// page is the report as a page of the documentation.
func page(p plan, results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Chaos\n\nWritten by `make chaos` (seed %d). The program is in [test/chaos](../test/chaos); what it promises is checked from the outside.\n\n", p.seed)
	b.WriteString(prose)
	heads, line := []string{""}, []string{"---"}
	for _, r := range results {
		heads, line = append(heads, r.kind), append(line, "---:")
	}
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	b.WriteString("## The run\n\n")
	row(heads)
	row(line)
	for i, name := range results[0].rows() {
		cells := []string{name[0]}
		for _, r := range results {
			cells = append(cells, r.rows()[i][1])
		}
		row(cells)
	}
	b.WriteString("\n## What was done to them\n\n")
	heads[0] = "fault"
	row(heads)
	row(line)
	names := map[string]bool{}
	for _, r := range results {
		for name := range r.faults {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, fmt.Sprint(r.faults[name]))
		}
		row(cells)
	}
	for _, what := range results[0].without {
		fmt.Fprintf(&b, "\nThis run was made without %s.\n", what)
	}
	return b.String()
}

const prose = `Two gateways of the real binary share a Redis: one node, then a master and two replicas under three sentinels, then a
cluster of three nodes. Each way between a gateway and Redis, and to each chat, goes through toxiproxy; the chats are fakes.
24 agents fetch something and then want to run commands and send messages, repeat calls, and repeat them at the other
gateway. The owner taps once, twice, late, on any chat, or not at all; a stranger of the same name taps too. Meanwhile
gateways, stores, chats, disks and clocks fail.

For every call:

- **Allowed** only if the record of that gateway has it with its ground, and what the agent and the owner saw agrees: no
  fetch before it, a tap in time on a card that showed this very call, or a grant that covers it.
- **Answered** within its hold and 500 ms, unless its gateway was killed or stopped.
- **Recorded**: both records pass ` + "`verifier audit verify`" + ` across all kills.
- Both gateways are ready within 20 seconds after the last fault, none has panicked, and each chat takes one more answer.

`
