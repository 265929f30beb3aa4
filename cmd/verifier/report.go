package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/replay"
)

// AuditReportCmd counts what the auditor said.
type AuditReportCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"The record's files, or the directory that they are in. Without it, the record of the server."`
	JSON  bool     `help:"Print the numbers as JSON."`
	recordFlags
}

// Run reports.
func (c *AuditReportCmd) Run(a *app) error {
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	var all replay.Auditing
	for _, name := range r.files {
		if err := readFrom(name, all.ReadAudited); err != nil {
			return err
		}
	}
	report := all.Report()
	if c.JSON {
		return a.printJSON(report)
	}
	a.printf("asked about              %s\n", count(report.Asked, "call"))
	a.printf("against                  %d, and %d of them were allowed by a person all the same\n", report.Blocked, report.Overruled)
	a.printf("no answer                %d\n", report.Silent)
	printAudited(a, "against, by tool", report.Tools)
	printAudited(a, "against, by pattern", report.Patterns)
	return nil
}

// readFrom lets one file be read, and names it in what is wrong with it.
func readFrom(name string, read func(io.Reader) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func printAudited(a *app, title string, items []replay.AuditedItem) {
	listSome(a, 25, items, func(item replay.AuditedItem) {
		a.printf("%-24s %d, %d overruled  %s\n", title, item.Blocked, item.Overruled, printable(item.Name))
		title = ""
	})
}

// ReportCmd counts what people were asked.
type ReportCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"The record's files, or the directory that they are in. Without it, the record of the server."`
	Since string   `help:"From then on: 2h or 2d (ago), 2026-10-03, or 2026-10-03T14:00:00Z." default:"7d" placeholder:"TIME"`
	JSON  bool     `help:"Print the numbers as JSON."`
	recordFlags
}

// Run reports.
func (c *ReportCmd) Run(a *app) error {
	now := time.Now()
	since, err := moment("--since", c.Since, now)
	if err != nil {
		return err
	}
	r, err := c.find(a, c.Files)
	if err != nil {
		return err
	}
	rules, _, err := policy.New(r.config.Policy)
	if err != nil {
		return err
	}
	all := replay.Loading{Policy: rules, Since: since, Until: now}
	for _, name := range r.files {
		if err := readFrom(name, all.ReadLoad); err != nil {
			return err
		}
	}
	report := all.Report()
	if c.JSON {
		return a.printJSON(report)
	}
	a.printf("questions      %d, %.1f a day\n", report.Questions, report.PerDay)
	a.printf("answered       %d yes, %d no; %d expired, %d withdrawn, %d open\n", report.Yes, report.No, report.Expired, report.Withdrawn, report.Open)
	a.printf("median answer  %.0f s\n", report.Median)
	printLoad(a, "rule", report.Rules)
	printLoad(a, "tool", report.Tools)
	printAlways(a, report.Always)
	return nil
}

func printLoad(a *app, by string, items []replay.LoadItem) {
	if len(items) == 0 {
		return
	}
	a.printf("\n%-32s %6s %5s %5s %8s %8s\n", by, "asked", "yes", "no", "expired", "median")
	listSome(a, 0, items, func(item replay.LoadItem) {
		a.printf("%-32s %6d %5d %5d %8d %6.0f s\n", printable(item.Name), item.Asked, item.Yes, item.No, item.Expired, item.Median)
	})
}

func printAlways(a *app, items []replay.AlwaysItem) {
	if len(items) == 0 {
		return
	}
	a.printf("\nThese questions you always answered yes:\n")
	listSome(a, 0, items, func(item replay.AlwaysItem) {
		what := "exactly " + string(item.Params)
		if item.Destinations != nil {
			var to []string
			for _, name := range slices.Sorted(maps.Keys(item.Destinations)) {
				to = append(to, name+" "+item.Destinations[name])
			}
			what = "like this: " + strings.Join(to, ", ")
		}
		page := ""
		if item.Acceptable {
			page = "; the page offers it as a standing consent"
		}
		a.printf("%4d times  %s, %s, by %s, up to %s%s\n", item.Times, printable(item.Tool), printable(what), printable(item.Agent), printable(item.Level), page)
	})
}

// weekly sends the owner a line about the last seven days, where the config wants that.
type weekly struct {
	when func() config.Weekly
	// once reports whether this process is the first that asks for a name, of all that share the store.
	once func(ctx context.Context, name string, life time.Duration) (bool, error)
	load func(since, until time.Time) (replay.Load, error)
	tell func(ctx context.Context, text string)
	fail func(ctx context.Context, err error)
	now  func() time.Time // nil means time.Now

	done time.Time // of the last line that this process has sent, or left to another
}

const (
	weeklyEvery = time.Minute
	weeklyLate  = 24 * time.Hour // a gateway that was down sends it that late
	week        = 7 * 24 * time.Hour
)

// run looks each minute whether the line is due.
func (w *weekly) run(ctx context.Context) {
	w.check(ctx)
	every(ctx, weeklyEvery, func() { w.check(ctx) })
}

// check sends the line if it is due, and no process has sent it. What is noted in the store is noted first: a line that gets lost is
// better than two.
func (w *weekly) check(ctx context.Context) {
	now := time.Now
	if w.now != nil {
		now = w.now
	}
	at, due := now(), w.when().Last(now())
	if due.IsZero() || at.Sub(due) >= weeklyLate || due.Equal(w.done) {
		return
	}
	load, err := w.load(at.Add(-week), at)
	if err != nil {
		w.fail(ctx, err)
		return
	}
	first, err := w.once(ctx, "weekly-report:"+due.UTC().Format(time.RFC3339), 2*weeklyLate)
	if err != nil {
		w.fail(ctx, err)
		return
	}
	if w.done = due; first {
		w.tell(ctx, weeklyLine(&load))
	}
}

// weeklyLine is the week in one line.
func weeklyLine(l *replay.Load) string {
	text := fmt.Sprintf("Your week: %s, %d yes, %d no, %d expired", count(l.Questions, "question"), l.Yes, l.No, l.Expired)
	if l.Yes+l.No > 0 {
		text += fmt.Sprintf(", half of them answered within %.0f s", l.Median)
	}
	text += "."
	for i := range l.Always {
		if item := &l.Always[i]; item.Acceptable {
			return text + fmt.Sprintf(" %d times you allowed %s to the same place and never denied it: accept that on your page, under Grants.", item.Times, printable(item.Tool))
		}
	}
	return text
}

// weekly is the one of this gateway. It counts by this gateway's record.
func (g *gateway) weekly() *weekly {
	return &weekly{
		when: func() config.Weekly { return g.live.Load().config.Report.Weekly },
		once: func(ctx context.Context, name string, life time.Duration) (bool, error) {
			n, err := g.store.Count(ctx, name, life, true)
			return n == 1, err
		},
		load: func(since, until time.Time) (replay.Load, error) {
			all := replay.Loading{Policy: g.live.Load().policy, Since: since, Until: until}
			files, err := ledger{recordPath(g.config, g.state), g.state}.Files()
			for _, name := range files {
				if err == nil {
					err = readFrom(name, all.ReadLoad)
				}
			}
			return all.Report(), err
		},
		tell: g.desk.Tell,
		fail: func(ctx context.Context, err error) {
			g.log.WarnContext(ctx, "the weekly report could not be sent; it is tried again", "err", err)
		},
	}
}
