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
	fmt.Fprintf(&b, "# Chaos\n\nWritten by `make chaos` (seed %d). The program is in [chaos](../chaos); what it promises is checked from the outside.\n\n", p.seed)
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

const prose = `Two gateways from the real binary share a Redis:

- one node; then a master and two replicas under three sentinels; then a cluster of three nodes;
- all keep what they have confirmed (` + "`" + `appendfsync always` + "`" + `); under Sentinel a write counts when both replicas have it (` + "`" + `?replicas=2` + "`" + `);
- each way between a gateway and Redis, and to each chat, goes through toxiproxy. Telegram, Slack and Discord are fakes that speak their protocols.

24 agents call either gateway:

- each conversation begins clean, fetches something, and then wants to run commands and send messages; it repeats them, repeats the very request at the other gateway, and sends identical ones at the same time;
- four of them at most wait for the owner, as a platform takes about one message a second in a chat; the others read meanwhile;
- most runtimes have the clock of the gateway that they call, however wrong it is; some have the right one, and now and then one is wrong by itself.

The owner taps *Allow once*, *Deny*, or behind *More…* *Allow 30 min* or *Exactly this, 30 min*: several of them at once, twice, late, on any of the chats, or not at all. A stranger of the same name taps too. Each platform delivers some taps twice, as one and the same event, and some after others that were made later.

What must hold, for every call that was made:

- **Allowed** only if the record of the gateway that allowed it says so, and says why, and what the agent and the owner saw bears that out: the policy, where no fetch had been allowed in the conversation before the call was sent; a tap of the owner's on a card that showed this very command, that came while the card could be answered, for one request, however often it is repeated, within the time of a late yes; a tap on *Allow 30 min* to a call of the same tool in the same conversation, or on *Exactly this, 30 min* to this very command, within half an hour. Those times are by the store's clock. One digest belongs to one command; a person's allow has a digest that its card was about, and no answer on that card denied it. A call is in time if its timestamp is within the tolerance of the clock of the gateway that took it.
- **Answered** within its hold and 500 ms. A connection that broke counts as cut off only if its gateway was killed or stopped meanwhile. A call that came while its gateway was starting counts from when that gateway was there. What a gateway was stopped for by SIGSTOP is not counted, nor what this machine was late by, which is measured beside it.
- **Recorded**: both records pass ` + "`verifier audit verify`" + ` afterwards, across all kills. An allow that an agent has read and that is not in the record is lost.
- Both gateways are ready again within 20 seconds after the last fault, under Sentinel from when the master has its replicas, and none has panicked. In each of the chats one more question is then put, and answered with a yes that counts.

How the faults are made:

- Kills are SIGKILL, pauses SIGSTOP.
- Under Sentinel the next fault of Redis comes when the master has both replicas again. A master of before that Sentinel has not made a replica within three seconds is made one, as an operator would.
- The store's clock and its disk are those of redis-server, through a small library that is preloaded into it (chaos/shim/redis.c). The record's disk is slow by strace, which holds up each write to that file.
- A gateway's own clock is put wrong, by two minutes to 25 hours in either direction, in the memory of its process (chaos/clock.go): the binary is the one that people run, its wall clock jumps, its monotonic clock goes on. A gateway that is started again meanwhile begins with the wrong clock.
- The fakes of the chats are part of the program that drives the run; they are cut off and broken, not killed.

`
