package main

import (
	"context"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/replay"
)

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
