package main

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/replay"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// weeks counts the lines that were sent on screens.
func weeks(screens ...*output) (n int) {
	for _, s := range screens {
		n += strings.Count(s.String(), "Your week:")
	}
	return n
}

// TestH558TheWeeklyLineComesOnce: over all replicas, after a restart, and not again within the week. Who was down sends it up to a day late.
func TestH558TheWeeklyLineComesOnce(t *testing.T) {
	t.Parallel()
	redis, began := redistest.Start(t), time.Now()
	edit := func(c *config.Config) {
		c.Report.Weekly = config.Weekly(began.UTC().Format("Mon 15:04") + " UTC")
		c.Store.Key = config.NewSecret(strings.Repeat("k", 40))
	}
	a, b := startRig(t, redis, false, edit), startRig(t, redis, false, edit)
	clock := time.Duration(0)
	of := func(r *rig) *weekly {
		w := r.g.weekly()
		w.now = func() time.Time { return time.Now().Add(clock) }
		return w
	}
	m := with(ownerIn("weekly"), "waitMs", 20_000)
	a.allow(fetch(m))
	held := a.hold(sh("make deploy", m))
	a.refuse(a.waits().Ref, "")
	<-held

	wa, wb := of(a), of(b)
	for range 3 {
		wa.check(t.Context())
		wb.check(t.Context())
	}
	waitFor(t, "the line is there", func() bool { return weeks(a.screen, b.screen) == 1 })
	text := strings.Join(strings.Fields(a.screen.String()+b.screen.String()), " ")
	if !strings.Contains(text, "Your week: 1 question, 0 yes, 1 no, 0 expired, half of them answered within") {
		t.Errorf("the line is\n%s", text)
	}
	a.quit()
	a.start()
	wa = of(a)
	for _, later := range []time.Duration{time.Hour, 23 * time.Hour, 30 * time.Hour, 6 * 24 * time.Hour} {
		clock = later
		wa.check(t.Context())
		wb.check(t.Context())
		of(b).check(t.Context())
	}
	clock = week + 23*time.Hour // both were down on Monday
	wb.check(t.Context())
	wa.check(t.Context())
	a.quit() // waits for what is on its way
	b.quit()
	if n := weeks(a.screen, b.screen); n != 2 {
		t.Errorf("%d lines in two weeks", n)
	}
}

// TestTheWeeklyLineIsOffUnlessConfigured: nothing is read or sent.
func TestTheWeeklyLineIsOffUnlessConfigured(t *testing.T) {
	t.Parallel()
	w := &weekly{when: func() config.Weekly { return "" }, load: func(time.Time, time.Time) (l replay.Load, err error) {
		t.Error("the record was read")
		return l, err
	}}
	w.check(t.Context())
}

// TestTheWeeklyLineNamesWhatToAccept: the first that the page offers, with a name that can do nothing.
func TestTheWeeklyLineNamesWhatToAccept(t *testing.T) {
	t.Parallel()
	l := replay.Load{Questions: 12, Yes: 10, No: 1, Expired: 1, Median: 8, Always: []replay.AlwaysItem{
		{Tool: "exec", Times: 9}, {Tool: "me\x1b[2Jssage\nx", Times: 4, Acceptable: true},
	}}
	got := weeklyLine(&l)
	if strings.ContainsAny(got, "\x1b\n") || strings.Contains(got, "exec") || !strings.Contains(got, "Your week: 12 questions, 10 yes, 1 no, 1 expired, half of them answered within 8 s. 4 times you allowed ") || !strings.HasSuffix(got, "under Grants.") {
		t.Errorf("%q", got)
	}
}
