package auditor_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/auditor"
)

func TestAnAnswerIsAllowOrBlockWithOneLineOfReason(t *testing.T) {
	for answer, want := range map[string]auditor.Opinion{
		"allow":                                {Verdict: auditor.Allow},
		"  ALLOW\n":                            {Verdict: auditor.Allow},
		"block":                                {Verdict: auditor.Block},
		"Block: the body is no recommendation": {Verdict: auditor.Block, Reason: "the body is no recommendation"},
		"block\nit deletes meetings":           {Verdict: auditor.Block, Reason: "it deletes meetings"},
		"BLOCK — sends a private key\n":        {Verdict: auditor.Block, Reason: "sends a private key"},
		"block it is not what was asked":       {Verdict: auditor.Block, Reason: "it is not what was asked"},
	} {
		if got := auditor.Parse(answer); got != want {
			t.Errorf("%q is %+v, want %+v", answer, got, want)
		}
	}
}

func TestH83AnythingElseIsNoAnswer(t *testing.T) {
	for _, answer := range []string{
		"", " ", "allow.", "allow\nbut only once", "allow, I think", `"allow"`, "allowed", "I would allow", "yes", "no", "blocked", "blocking it",
		"block: one\ntwo", "block: \x1b[2J", "block: a\u202eb", "block: \xff", "do not block\nallow", "<think>hm</think>allow", "ALLOW ALLOW", "аllow",
		`{"decision":"allow"}`, "allow" + strings.Repeat(" ", 5000),
	} {
		if got := auditor.Parse(answer); got.Verdict != auditor.NoAnswer || got.Reason == "" {
			t.Errorf("%q is %+v, want no answer, and why", answer, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"allow", "block: x", "block\nx\ny", "ALLOW\n", "block—ö", "blockade"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := auditor.Parse(s)
		switch o.Verdict {
		case auditor.Allow:
			if !strings.EqualFold(strings.TrimSpace(s), "allow") || o.Reason != "" {
				t.Fatalf("%q is an allow: %+v", s, o)
			}
		case auditor.Block:
			bad := func(r rune) bool { return r == '\n' || !unicode.IsPrint(r) }
			if utf8.RuneCountInString(o.Reason) > 200 || strings.ContainsFunc(o.Reason, bad) {
				t.Fatalf("%q gives the reason %q", s, o.Reason)
			}
		case auditor.NoAnswer:
			if o.Reason == "" {
				t.Fatalf("%q is no answer, and nobody says why", s)
			}
		}
	})
}
