package main

import (
	"errors"
	"fmt"
	"os"
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
	yes           map[string]int // answers that allowed something, in each chat
	grounds       map[string]int
	faults        map[string]spans // when each was done
	wrongs        []wrong
}

// faulty is an error if anything was wrong. It lists the first 25.
func (r *result) faulty() error {
	var errs []error
	for i, w := range r.wrongs {
		if i == 25 {
			errs = append(errs, fmt.Errorf("and %d more", len(r.wrongs)-i))
			break
		}
		errs = append(errs, fmt.Errorf("%s: %s: %s", r.kind, w.kind, w.text))
	}
	return errors.Join(errs...)
}

func (r *result) found(kinds ...string) (n int) {
	for _, w := range r.wrongs {
		if slices.Contains(kinds, w.kind) {
			n++
		}
	}
	return n
}

// rows are the report of a run, as names and values.
func (r *result) rows() [][2]string {
	of := func(m map[string]int, names ...string) string {
		var out []string
		for _, name := range names {
			out = append(out, fmt.Sprint(m[name]))
		}
		return strings.Join(out, ", ")
	}
	rows := [][2]string{
		{"calls", fmt.Sprint(r.calls)},
		{"answered, cut off with their gateway", fmt.Sprintf("%d, %d", r.answered, r.cut)},
		{"allowed by policy, person, grant, again", of(r.grounds, byPolicy, byPerson, byGrant, byReplay)},
		{"cards shown, taps", fmt.Sprintf("%d, %d", r.cards, r.taps)},
		{"a yes by Telegram, Slack, Discord", of(r.yes, "telegram", "slack", "discord")},
		{"slowest answer, beyond its hold", r.slowest.Round(time.Millisecond).String()},
		{"**wrongly allowed**", fmt.Sprint(r.found(wronglyAllowed))},
		{"**unanswered**", fmt.Sprint(r.found(unanswered))},
		{"**lost records**", fmt.Sprint(r.found(lostRecord))},
		{"anything else", fmt.Sprint(len(r.wrongs) - r.found(wronglyAllowed, unanswered, lostRecord))},
		{"time", r.took.Round(time.Second).String()},
	}
	for _, name := range faultNames {
		rows = append(rows, [2]string{name, fmt.Sprint(len(r.faults[name]))})
	}
	return rows
}

// table is the report in Markdown.
func table(results []result) string {
	var b strings.Builder
	head, line := "|", "| ---"
	for _, r := range results {
		head, line = head+" | "+r.kind, line+" | ---:"
	}
	fmt.Fprintf(&b, "%s |\n%s |\n", head, line)
	for i, row := range results[0].rows() {
		fmt.Fprintf(&b, "| %s", row[0])
		for _, r := range results {
			fmt.Fprintf(&b, " | %s", r.rows()[i][1])
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// publish puts the report into a page, in place of what follows the heading of the run.
func publish(page, table string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	const heading = "## The run\n\n"
	text, _, found := strings.Cut(string(old), heading)
	if !found {
		return fmt.Errorf("%s has no heading %q", page, heading)
	}
	return os.WriteFile(page, []byte(text+heading+table), 0o644)
}
