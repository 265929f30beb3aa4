package intent_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/intent"
)

func TestAnAnswerIsAllowOrBlockWithOneLineOfReason(t *testing.T) {
	for answer, want := range map[string]intent.Opinion{
		"allow":                                {Verdict: intent.Allow},
		"  ALLOW\n":                            {Verdict: intent.Allow},
		"block":                                {Verdict: intent.Block},
		"Block: the body is no recommendation": {Verdict: intent.Block, Reason: "the body is no recommendation"},
		"block\nit deletes meetings":           {Verdict: intent.Block, Reason: "it deletes meetings"},
		"BLOCK — sends a private key\n":        {Verdict: intent.Block, Reason: "sends a private key"},
		"block it is not what was asked":       {Verdict: intent.Block, Reason: "it is not what was asked"},
	} {
		if got := intent.Parse(answer); got != want {
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
		if got := intent.Parse(answer); got.Verdict != intent.NoAnswer || got.Reason == "" {
			t.Errorf("%q is %+v, want no answer, and why", answer, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"allow", "block: x", "block\nx\ny", "ALLOW\n", "block—ö", "blockade"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := intent.Parse(s)
		switch o.Verdict {
		case intent.Allow:
			if !strings.EqualFold(strings.TrimSpace(s), "allow") || o.Reason != "" {
				t.Fatalf("%q is an allow: %+v", s, o)
			}
		case intent.Block:
			bad := func(r rune) bool { return r == '\n' || !unicode.IsPrint(r) }
			if utf8.RuneCountInString(o.Reason) > 200 || strings.ContainsFunc(o.Reason, bad) {
				t.Fatalf("%q gives the reason %q", s, o.Reason)
			}
		case intent.NoAnswer:
			if o.Reason == "" {
				t.Fatalf("%q is no answer, and nobody says why", s)
			}
		}
	})
}
