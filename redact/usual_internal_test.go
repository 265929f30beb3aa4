package redact

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
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

// What is remembered is bounded, holds nothing that came once, and nothing of a
// text's surroundings.
func TestOnlyAFewUsualTextsAreRemembered(t *testing.T) {
	r := redactor(t, Config{})
	for i := range 3 * usualSize {
		s := fmt.Sprintf("session-%d", i)
		r.Lines(&s)
	}
	if n := len(r.usual.recent) + len(r.usual.old); n != 0 {
		t.Errorf("%d texts that came once are remembered", n)
	}
	for i := range 3 * usualSize {
		for range 2 {
			s := fmt.Sprintf("agent-%d", i)
			r.Lines(&s)
		}
	}
	if n := len(r.usual.recent) + len(r.usual.old); n <= usualSize || n > 2*usualSize {
		t.Errorf("%d texts are remembered", n)
	}
	call := strings.Repeat("x", 50) + " main-session"
	part := call[51:]
	r.Lines(&part)
	r.Lines(&part)
	for s := range r.usual.recent {
		if s == part && unsafe.StringData(s) == unsafe.StringData(part) {
			t.Error("a text keeps the whole call")
		}
	}
	if _, known := r.usual.recent[part]; !known {
		t.Error("a text that came twice is not remembered")
	}
}

// What is encoded in one text is found beside another that looks like the line
// before it: whoever sends a call chooses what stands around it.
func TestNoTextHidesWhatTheNextOneEncodes(t *testing.T) {
	r := redactor(t, Config{})
	for before := range 64 {
		run, secret := strings.Repeat("Q3MzYKwdtz", 8)[:16+before], "cGFzczphYmMgcGFzc2lu"
		if r.Lines(&run, &secret); secret != "[REDACTED: 20 chars]" {
			t.Fatalf("behind %q it stays %q", run, secret)
		}
	}
}
