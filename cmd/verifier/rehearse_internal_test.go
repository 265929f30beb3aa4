package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestAChangedPolicyIsPlayedAgainstTheOwnRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx := ownerIn("main")
	r.allow(call{tool: "read", params: `{"path":"a.txt"}`, context: ctx})
	r.allow(fetch(ctx))
	r.allow(call{tool: "read", params: `{"path":"b.txt"}`, context: ctx})
	before := r.record()
	v := r.visit()
	v.enter(r.loginLink())
	try := func(text string) (page string) {
		for range 3 { // a busy machine's store may be too slow for a decision
			_, page = v.load(http.MethodPost, "/page/policy/replay", url.Values{"policy": {text}})
			if !strings.Contains(page, "could not be played to the end") {
				break
			}
		}
		return page
	}
	if page := try("toolOverrides:\n  read:\n    untrusted: restrict\n"); !strings.Contains(page, "3 calls of 1 conversations") ||
		!strings.Contains(page, "b.txt") || strings.Contains(page, "<code>a.txt") || !strings.Contains(page, "<strong>is refused</strong> then") {
		t.Errorf("a stricter one:\n%s", page)
	}
	if page := try("profile: default"); !strings.Contains(page, "Nothing would have been different") {
		t.Errorf("the same:\n%s", page)
	}
	for text, want := range map[string]string{"profil: strict": "did you mean", "ownerToken: file:/etc/passwd": "unknown key", "profile: nobody": "profile"} {
		if page := try(text); !strings.Contains(page, want) || strings.Contains(page, "conversations</h3>") {
			t.Errorf("%s:\n%s", text, page)
		}
	}
	if now := r.record(); len(now) <= len(before) || strings.Count(now, `"kind":"decision"`) != 3 {
		t.Error("a replay stands in the record")
	}
	r.allow(call{tool: "read", params: `{"path":"c.txt"}`, context: ctx}) // the policy in force is the old one
}
