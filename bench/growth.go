package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// growth is what was measured along an axis.
type growth struct {
	axis
	report *report
}

// grow measures each axis by itself and prints one table.
func grow(ctx context.Context, o options) error {
	said := fmt.Sprintf("What an allow costs as work grows: time per call beside the smallest point of the same round; medians of %d rounds of %d calls.\n", o.rounds, o.calls)
	fmt.Print(said)
	var all []growth
	missed := false
	for _, a := range axes {
		r, err := measure(ctx, o, a.grown(o.short))
		if err != nil {
			return err
		}
		g := growth{a, r}
		all = append(all, g)
		fmt.Print(g.table())
		said += g.table()
		missed = missed || !g.flat()
	}
	if o.plot != "" {
		if err := os.WriteFile(o.plot, []byte(draw(all)), 0o644); err != nil {
			return err
		}
	}
	if err := o.publish("growth", said); err != nil {
		return err
	}
	if missed && !o.short {
		return errMissed
	}
	return nil
}

func (g *growth) table() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "\n%-44s %10s %8s %13s %12s\n", g.title, "calls/s", "times", "quartiles", "CPU/call")
	for i := range g.report.rows {
		row, q := &g.report.rows[i], g.times(i)
		word := ""
		if q[1] > maxGrowth {
			word = fmt.Sprintf("  more than %.1f", maxGrowth)
		}
		fmt.Fprintf(w, "%44d %10.0f %8.2f %13s %9.1f µs%s\n", g.points[i], row.perSecond(), q[1], fmt.Sprintf("%.2f – %.2f", q[0], q[2]), micros(row.cpu()), word)
	}
	return w.String()
}

// times is how much longer a call takes at a point than at the first.
func (g *growth) times(i int) [3]float64 {
	return quartiles(g.report.rows[0].ratios(g.report.rows[i]))
}

// flat reports whether no point is dearer than allowed, by more than noise.
func (g *growth) flat() bool {
	for i := range g.report.rows {
		if g.times(i)[0] > maxGrowth {
			return false
		}
	}
	return true
}

// The picture: a panel for each axis, side by side.
const (
	panel  = 210
	height = 190
	left   = 34
	bottom = 150
	most   = 2.0 // times, at the top
)

// draw is the growth as an SVG that reads in light and in dark.
func draw(all []growth) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="11" role="img" aria-label="What an allow costs as work grows">`+"\n", panel*len(all), height)
	w.WriteString(`<style>text{fill:#333}.a{stroke:#999}.m{stroke:#c33;stroke-dasharray:4 3}.l{stroke:#1a6fd4;fill:none;stroke-width:2}circle{fill:#1a6fd4}@media(prefers-color-scheme:dark){text{fill:#ddd}.l{stroke:#7db7ff}circle{fill:#7db7ff}}</style>` + "\n")
	for i := range all {
		all[i].draw(w, panel*i)
	}
	w.WriteString("</svg>\n")
	return w.String()
}

func (g *growth) draw(w *strings.Builder, x0 int) {
	height := func(times float64) float64 { return bottom - (bottom-30)*min(times, most)/most }
	across := func(i int) float64 {
		return float64(x0+left) + float64(i)*(panel-left-30)/float64(max(1, len(g.report.rows)-1))
	}
	fmt.Fprintf(w, `<text x="%d" y="18">%s</text>`+"\n", x0+left, g.title)
	for _, t := range []float64{0, 1, most} {
		fmt.Fprintf(w, `<text x="%d" y="%.0f" text-anchor="end">%.0f ×</text><line class="a" x1="%d" x2="%d" y1="%.0f" y2="%.0f"/>`+"\n", x0+left-6, height(t)+4, t, x0+left, x0+panel-24, height(t), height(t))
	}
	fmt.Fprintf(w, `<line class="m" x1="%d" x2="%d" y1="%.0f" y2="%.0f"/>`+"\n", x0+left, x0+panel-24, height(maxGrowth), height(maxGrowth))
	var line []string
	for i := range g.report.rows {
		x, y := across(i), height(g.times(i)[1])
		line = append(line, fmt.Sprintf("%.0f,%.0f", x, y))
		fmt.Fprintf(w, `<circle cx="%.0f" cy="%.0f" r="3"/><text x="%.0f" y="%d" text-anchor="middle">%d</text>`+"\n", x, y, x, bottom+16, g.points[i])
	}
	fmt.Fprintf(w, `<polyline class="l" points="%s"/>`+"\n", strings.Join(line, " "))
}
