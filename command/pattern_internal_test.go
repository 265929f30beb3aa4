package command

import "testing"

// TestEveryPatternCompiles: a pattern that is wrong would panic only when a command meets it.
func TestEveryPatternCompiles(t *testing.T) {
	if len(patterns) < 100 {
		t.Errorf("%d patterns are known", len(patterns))
	}
	for _, p := range patterns {
		p.regexp()
	}
}
