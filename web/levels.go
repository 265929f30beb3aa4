package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/taint"
)

// Sizes of the chart of a conversation's level.
const (
	levelRow   = 20
	levelLeft  = 76 // where the names end
	levelWidth = 280
)

// levelChart is a line that goes down as a conversation gets less trusted, and the
// same in words.
type levelChart struct {
	Path    string
	Rows    []levelRowView
	Right   int
	Height  int
	Changes []levelChange
	From    time.Time
	To      time.Time
}

type levelRowView struct {
	Name string
	Y    int
}

// levelChange is a moment in which the level became another.
type levelChange struct {
	At           time.Time
	Level, Cause string
}

// drawLevels goes from entry to entry: each is one step to the right.
func drawLevels(entries []audit.Line) levelChart {
	c := levelChart{Right: levelLeft + levelWidth, Height: levelRow * taint.Levels}
	rank := map[string]int{}
	for i, level := range taint.All() {
		rank[level.String()] = i
		c.Rows = append(c.Rows, levelRowView{level.String(), i*levelRow + levelRow/2})
	}
	var path strings.Builder
	last := ""
	for i := range entries {
		e := &entries[i].Entry
		x := levelLeft + (i+1)*levelWidth/(len(entries)+1)
		for n, level := range []string{e.Level, e.RaisedTo} {
			at, known := rank[level]
			if !known {
				continue
			}
			y := c.Rows[at].Y
			if path.Len() == 0 {
				fmt.Fprintf(&path, "M%d %dH%d", levelLeft, y, x)
				c.From = e.At
			} else {
				fmt.Fprintf(&path, "H%dV%d", x, y)
			}
			if level != last {
				c.Changes = append(c.Changes, levelChange{e.At, level, cause(e, n == 1)})
			}
			last, c.To = level, e.At
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(&path, "H%d", c.Right)
	}
	c.Path = path.String()
	return c
}

// cause is what made the level another.
func cause(e *audit.Entry, raised bool) string {
	switch {
	case raised && e.Source != "":
		return foreign(e.Source)
	case raised:
		return foreign(e.Tool)
	case e.Started != "":
		return foreign(e.Started)
	}
	return ""
}
