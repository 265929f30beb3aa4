package main

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
)

func TestAuditShowPicksWhatIsAskedFor(t *testing.T) {
	e := record.Entry{
		Kind: record.KindDecision, Tool: "exec", Sent: "bash", Session: "agent:main:main", SessionID: "s1",
		Agent:    "main",
		Decision: record.Allow, Ref: "7Q4K", People: []record.Person{{Name: "Ada"}},
	}
	e.At = time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)
	for _, f := range []AuditShowCmd{
		{}, {since: e.At}, {until: e.At.Add(1)}, {Tool: "exec"}, {Tool: "bash"}, {Session: "agent:main:main"},
		{Session: "s1"}, {Decision: record.Allow}, {Ref: "7q4k"}, {Kind: "decision"}, {Person: "ada"},
		{Tool: "exec", Person: "ada", Decision: record.Allow},
	} {
		if !f.matches(&e) {
			t.Errorf("%+v leaves it out", &f)
		}
	}
	for _, f := range []AuditShowCmd{
		{since: e.At.Add(1)}, {until: e.At}, {Tool: "read"}, {Session: "s2"}, {Agent: "aux"}, {Decision: record.Deny},
		{Ref: "AAAA"},
		{Kind: "note"}, {Person: "Bob"}, {Tool: "exec", Person: "ada", Decision: record.Deny},
	} {
		if f.matches(&e) {
			t.Errorf("%+v takes it", &f)
		}
	}
}
