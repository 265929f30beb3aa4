package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// result is what came of a run.
type result struct {
	kind          string
	took          time.Duration
	calls         int
	answered, cut int
	slowest       time.Duration // answer, beyond its hold
	cards, taps   int
	rooms, yes    map[string]int // taps in each, and answers that allowed something
	twice, mixed  int            // taps that came twice, and in another order
	lines         int            // of both records
	grounds       map[string]int
	faults        map[string]int
	wrongs        []wrong
	without       []string
}

// maxTold is how many wrongs are listed one by one.
const maxTold = 25

// faulty is an error if anything was wrong.
func (r *result) faulty() error {
	if len(r.wrongs) == 0 {
		return nil
	}
	var told []string
	for i, w := range r.wrongs {
		if i == maxTold {
			told = append(told, fmt.Sprintf("and %d more", len(r.wrongs)-i))
			break
		}
		told = append(told, w.kind+": "+w.text)
	}
	return errors.New(r.kind + ": " + strings.Join(told, "\n  "))
}

// count counts what was done in the chats.
func (r *result) count(taps []tap) {
	r.taps, r.rooms, r.mixed = len(taps), map[string]int{}, overtaken(taps)
	for _, t := range taps {
		if t.room != nil {
			r.rooms[t.room.name()]++
		}
		if t.twice && !t.sent.IsZero() {
			r.twice++
		}
	}
}

func (r *result) found(kind string) (n int) {
	for _, w := range r.wrongs {
		if w.kind == kind {
			n++
		}
	}
	return n
}

func (r *result) injected() (n int) {
	for _, c := range r.faults {
		n += c
	}
	return n
}

// rows are the report of a run, as names and values.
func (r *result) rows() [][2]string {
	return [][2]string{
		{"calls", fmt.Sprint(r.calls)},
		{"answered", fmt.Sprint(r.answered)},
		{"cut off with their gateway", fmt.Sprint(r.cut)},
		{"allowed by policy, person, grant, again", fmt.Sprintf("%d, %d, %d, %d", r.grounds[byPolicy], r.grounds[byPerson], r.grounds[byGrant], r.grounds[byReplay])},
		{"cards shown, taps", fmt.Sprintf("%d, %d", r.cards, r.taps)},
		{"taps on Telegram, Slack, Discord", fmt.Sprintf("%d, %d, %d", r.rooms["telegram"], r.rooms["slack"], r.rooms["discord"])},
		{"a yes by Telegram, Slack, Discord", fmt.Sprintf("%d, %d, %d", r.yes["telegram"], r.yes["slack"], r.yes["discord"])},
		{"taps delivered twice, out of order", fmt.Sprintf("%d, %d", r.twice, r.mixed)},
		{"lines in the two records", fmt.Sprint(r.lines)},
		{"faults injected", fmt.Sprint(r.injected())},
		{"slowest answer, beyond its hold", r.slowest.Round(time.Millisecond).String()},
		{"**wrongly allowed**", fmt.Sprint(r.found(wronglyAllowed))},
		{"**unanswered**", fmt.Sprint(r.found(unanswered))},
		{"**lost records**", fmt.Sprint(r.found(lostRecord))},
		{"anything else", fmt.Sprint(len(r.wrongs) - r.found(wronglyAllowed) - r.found(unanswered) - r.found(lostRecord))},
		{"time", r.took.Round(time.Second).String()},
	}
}

// String is the report for a terminal.
func (r result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.kind)
	for _, row := range r.rows() {
		fmt.Fprintf(&b, "  %-34s %s\n", strings.Trim(row[0], "*"), row[1])
	}
	for _, name := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(&b, "    %4d  %s\n", r.faults[name], name)
	}
	for _, what := range r.without {
		fmt.Fprintf(&b, "  without %s\n", what)
	}
	return b.String()
}

// missing is what a run had to do without.
func (t *tools) missing() (out []string) {
	if t.shim == "" {
		out = append(out, "a slow disk under Redis and jumps of its clock: there is no C compiler, or this is not Linux")
	}
	if t.strace == "" {
		out = append(out, "a slow disk under the records: strace is not installed, or may not trace")
	}
	return out
}
