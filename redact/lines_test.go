package redact_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

func TestH40LinesHideWhatATextHides(t *testing.T) {
	r := ready(t, redact.Config{Patterns: []redact.Pattern{{Regex: `TICKET-[0-9]{4}`}}})
	for _, c := range redacttest.Canaries() {
		for _, text := range c.Texts {
			first, second, third := "agent:main:main", text, "exec"
			r.Lines(&first, &second, &third)
			if first != "agent:main:main" || third != "exec" {
				t.Errorf("beside %q, the others became %q and %q", text, first, third)
			}
			want, _ := r.Text(text)
			if second != want || redacttest.Leaks(second, c.Secret) != "" {
				t.Errorf("%q became %q, want %q", text, second, want)
			}
			if got := redact.Line(text); redacttest.Leaks(got, c.Secret) != "" {
				t.Errorf("%q as a line became %q", text, got)
			}
		}
	}
	own := "see TICKET-1234"
	if r.Lines(&own); own != "see [REDACTED: 11 chars]" {
		t.Errorf("the owner's pattern: %s", own)
	}
}

func TestLinesLeaveOrdinaryNamesAlone(t *testing.T) {
	r := ready(t, redact.Config{})
	for _, s := range []string{
		"", "exec", "agent:main:main", "agent:main:telegram:group:-1001234567890:topic:7", "550e8400-e29b-41d4-a716-446655440000", "hook:gmail:17c8d", "agent:main:cron:job-1:run:42", "mcp__github__create_issue",
		"request-12345", "01J9ZC5V3W8Q2M4N6P7R8S9TAB", "run_7f3a9c51d2e84b60", "Owner approval required (ref 7Q4K). Ask again after the owner approves.", "The conversation is untrusted: the agent fetched example.com 2 calls ago.",
	} {
		got := s
		if r.Lines(&got); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if got := redact.Line(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
