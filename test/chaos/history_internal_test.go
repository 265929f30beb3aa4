package main

import (
	"testing"
	"time"
)

// TestAClocksHistory: what it showed at any moment of a time.
func TestAClocksHistory(t *testing.T) {
	h := history{{at(9.5), at(10), time.Hour}, {at(20), at(20), 0}}
	for _, c := range []struct {
		from, to, least, most float64
	}{
		{1, 2, 1, 2}, {9.6, 9.7, 9.6, 3609.7}, {9, 11, 9, 3611}, {11, 12, 3611, 3612}, {15, 25, 15, 3625}, {21, 22, 21, 22}, {9, 21, 9, 3621},
	} {
		if least, most := h.between(at(c.from), at(c.to)); !least.Equal(at(c.least)) || !most.Equal(at(c.most)) {
			t.Errorf("from %v to %v it showed %v to %v", c.from, c.to, least.Sub(noon), most.Sub(noon))
		}
	}
}
