package redact

import (
	"fmt"
	"strings"
	"testing"
)

// What was clean once, twice and a hundred times is what a search finds; and what
// is not is hidden each time, whatever stands beside it.
func TestLinesAreTheSameEachTime(t *testing.T) {
	r := redactor(t, Config{Patterns: []Pattern{{Name: "badge", Regex: `B-[0-9]{6}`, Example: "B-123456"}}})
	texts := []string{
		"agent:main:telegram:direct:1234567", "main", "exec", "", "The conversation is owner.", "AKIAIOSFODNN7EXAMPLQ", "B-123456",
		"https://bob:hunter22@example.com", strings.Repeat("long ", 100), "ghp_0123456789abcdefghijABCDEFGHIJ012345", "password=hunter22",
	}
	want := make([]string, len(texts))
	for i, s := range texts {
		want[i], _ = r.Text(s)
	}
	for round := range 100 {
		id := fmt.Sprintf("request-%d", round)
		for i := range texts {
			alone := texts[i]
			if r.Lines(&alone); alone != want[i] {
				t.Fatalf("alone, time %d: %q became %q, not %q", round, texts[i], alone, want[i])
			}
			for j := range texts { // beside another, which may be one that hides something
				a, b, c := texts[i], texts[j], id
				if r.Lines(&a, &b, &c); a != want[i] || b != want[j] || c != id {
					t.Fatalf("time %d: %q and %q became %q and %q, not %q and %q", round, texts[i], texts[j], a, b, want[i], want[j])
				}
			}
		}
	}
}
