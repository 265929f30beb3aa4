package policy_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// FuzzPlan: whatever the params are, there is a monotone plan, its path ends
// where the plan does, and what is no JSON is refused.
func FuzzPlan(f *testing.F) {
	for _, params := range []string{
		`{}`, ``, `{`, `[]`, `[]0`, `{}{}`, "0\v", `{"a":"a"} x`, `{"command":"curl https://u:p@example.com"}`, `{"sessionKey":"agent:a:b"}`, "{\"a\":\"\xff\"}",
		`{"url":"http://[::1]:8787/%2e%2e/\u0000"}`, `{"a":{"a":["\\x41\\u0041\\101",{"b":null}]}}`, `{"command":"/../../.."}`,
	} {
		for _, tool := range []string{"exec", "sessions_send", "read", "acme"} {
			f.Add(tool, params)
		}
	}
	p := must(f, policy.Config{Guard: ours(), Agents: map[string]policy.Agent{"main": {MaxIterations: 5}}})
	f.Fuzz(func(t *testing.T, tool, params string) {
		c := call(tool, params)
		plan := p.Plan(c)
		if _, tightened := plan.Modes.Closed(); len(tightened) > 0 {
			t.Errorf("%v permits more at %v", plan.Modes, tightened)
		}
		if params != "" && !jsontext.Value(params).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && plan.Modes != taint.Every(restrict) {
			t.Errorf("%q is no JSON and passes: %v", params, plan.Modes)
		}
		if strings.ContainsAny(plan.Source, "\x00\n\x1b") || len([]rune(plan.Source)) > 80 {
			t.Errorf("label %q", plan.Source)
		}
		for l := range taint.Level(8) {
			if v := p.Judge(c, at(l)); len(v.Sentences()) < 2 || v.Rule == "" {
				t.Errorf("at %s: %+v", l, v)
			}
		}
	})
}

// TestNoLetterHidesWhatIsOurs: letters of several bytes before and after it, however many, hide no path of ours.
func TestNoLetterHidesWhatIsOurs(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{Guard: policy.Guard{Paths: []string{"/srv/own/verifier.yaml"}}})
	for n := range 40 {
		for _, letter := range []string{"é", "€", "𝄞", "É", "x"} {
			pad := strings.Repeat(letter, n)
			c := call("read", quoted("path", "/"+pad+"/OWN/verifier.YAML "+pad))
			if mode := p.Judge(c, at(owner)).Mode; mode != restrict {
				t.Fatalf("%d of %s: %s", n, letter, mode)
			}
		}
	}
}

// FuzzGuard: around a guarded path, nothing that is no letter hides it, and
// nothing at all makes the guard panic.
func FuzzGuard(f *testing.F) {
	for _, around := range []string{"", "cat ", "a/../", "%2e/", "..", "//", "\\", "'\"", "\u200b", "/.", "/..", "%", "%2", "\\x4", "\x00", "é"} {
		f.Add(around, around)
	}
	p := must(f, policy.Config{Guard: ours()})
	f.Fuzz(func(t *testing.T, before, after string) {
		plan := p.Plan(call("read", quoted("path", before+" /home/ann/.local/state/verifier/owner.token "+after)))
		if plan.Modes != taint.Every(restrict) {
			t.Errorf("hidden by %q and %q", before, after)
		}
	})
}
