package main

import (
	"slices"
	"time"
)

// history is when a clock was moved, and by how much it was off from then on.
type history []move

type move struct {
	began, at time.Time // between them it may show either
	shift     time.Duration
}

// shifts are by how much it was off at any moment of a time.
func (h history) shifts(from, to time.Time) []time.Duration {
	out := []time.Duration{0}
	for _, m := range h {
		switch {
		case !m.at.After(from):
			out = []time.Duration{m.shift}
		case !m.began.After(to):
			out = append(out, m.shift)
		}
	}
	return out
}

// between is the least and the most that it showed in a time.
func (h history) between(from, to time.Time) (least, most time.Time) {
	shifts := h.shifts(from, to)
	return from.Add(slices.Min(shifts)), to.Add(slices.Max(shifts))
}
