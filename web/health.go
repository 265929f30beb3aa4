package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/policy"
)

// Check is one thing the gateway needs, and what is wrong with it.
type Check struct {
	Name  string
	Fault string // empty: nothing
	Good  string // what to say where nothing is wrong; empty: ok
}

// Reload is when the config was last read anew, and which keys differed. The
// zero Reload is that it was not.
type Reload struct {
	At      time.Time
	Changed []string
	Before  *policy.Policy // the one that was in force until then
}

// Bounds of the charts.
const (
	chartDays   = 14
	chartScan   = 100_000 // lines that are looked at
	chartKept   = 30 * time.Second
	reflex      = 2 * time.Second // faster than one can read
	healthLimit = 400 * time.Millisecond
)

// healthView is how the gateway does, and how its people do.
type healthView struct {
	Checks []Check
	Charts charts
}

// charts are what the record says of the last two weeks.
type charts struct {
	Days      []dayView
	Asked     int
	Answered  int
	Allowed   int // percent
	Median    string
	Reflexes  int // percent of the allows that came faster than one can read
	Rubber    bool
	Expired   int
	allows    int
	fast      int
	durations []time.Duration
}

type dayView struct {
	Day            string
	Asked          int
	Allowed        int
	Denied         int
	X, Y, H        int // of its bar
	AllowY, AllowH int
}

// health is the view of how the gateway does.
type health struct {
	*site
	reader *recordReader
	grants *grants
	charts kept[charts]
}

// draw shows checks and charts.
func (h *health) draw(w http.ResponseWriter, r *http.Request, m *member) {
	ctx, cancel := context.WithTimeout(r.Context(), healthLimit)
	defer cancel()
	now := h.o.Now()
	charts, _ := h.charts.get(now, chartKept, func() (charts, error) { return h.reader.charts(now), nil })
	h.show(w, r, m, "health", view{Title: "Health", At: "health", Health: healthView{h.o.Health(ctx), charts}, Pauses: h.grants.pauses()})
}

// charts reads what was asked and answered lately.
func (r *recordReader) charts(now time.Time) charts {
	var c charts
	first := now.UTC().AddDate(0, 0, 1-chartDays).Truncate(24 * time.Hour)
	for i := range chartDays {
		c.Days = append(c.Days, dayView{Day: first.AddDate(0, 0, i).Format("Jan 2")})
	}
	scanned := 0
	for l, err := range r.o.Ledger.Backward(func(raw []byte) bool {
		scanned++
		return scanned > chartScan || bytes.Contains(raw, []byte(`"kind":"a`)) // asked, answer
	}) {
		if err != nil || scanned > chartScan || l.At.Before(first) && !l.At.IsZero() {
			break
		}
		if day := int(l.At.Sub(first) / (24 * time.Hour)); day >= 0 && day < chartDays {
			c.count(&l.Entry, &c.Days[day])
		}
	}
	c.finish()
	return c
}

func (c *charts) count(e *audit.Entry, d *dayView) {
	switch {
	case e.Client == approval.TestTool: // it was about nothing
	case e.Kind == audit.KindAsked:
		c.Asked++
		d.Asked++
	case e.Kind != audit.KindAnswer:
	case e.Decision == "":
		c.Expired++
	default:
		c.Answered++
		took := time.Duration(0)
		if len(e.People) > 0 {
			took = time.Duration(e.People[0].TookMs) * time.Millisecond
			c.durations = append(c.durations, took)
		}
		if e.Decision != audit.Allow {
			d.Denied++
			return
		}
		d.Allowed++
		c.allows++
		if took < reflex {
			c.fast++
		}
	}
}

// barHeight is the height of the tallest bar.
const barHeight = 60

func (c *charts) finish() {
	most := 1
	for _, d := range c.Days {
		most = max(most, d.Asked, d.Allowed+d.Denied)
	}
	for i := range c.Days {
		d := &c.Days[i]
		d.X, d.H, d.AllowH = i*20, d.Asked*barHeight/most, d.Allowed*barHeight/most
		d.Y, d.AllowY = barHeight-d.H, barHeight-d.AllowH
	}
	if c.Answered > 0 {
		c.Allowed = 100 * c.allows / c.Answered
	}
	if c.allows > 0 {
		c.Reflexes = 100 * c.fast / c.allows
	}
	c.Rubber = c.allows >= 10 && c.Reflexes >= 30 || c.Answered >= 20 && c.Allowed >= 98
	c.Median = "–"
	if slices.Sort(c.durations); len(c.durations) > 0 {
		c.Median = fmt.Sprintf("%.1f s", c.durations[len(c.durations)/2].Seconds())
	}
}
