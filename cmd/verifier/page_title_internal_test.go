package main

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// reads is what a page says, without its markup.
func reads(page string) string { return html.UnescapeString(tags.ReplaceAllString(page, "")) }

// TestH305AConversationIsTitledByItsFirstRequest: it is known by what its owner first asked for, as long as the process knows it. No secret
// in that is shown, and the record keeps none of it.
func TestH305AConversationIsTitledByItsFirstRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	untilReady(t, r)
	v := r.visit()
	v.enter(r.loginLink())
	r.allow(call{tool: "read", params: `{"path":"a.txt"}`, context: asking("t1", "Tidy up my <notes>, token=ghp_016C7886cT8dR1n4v5w6x7y8z9a0b1c2d3e4")})
	r.allow(call{tool: "read", params: `{"path":"b.txt"}`, context: asking("t1", "And now something else")})
	r.allow(call{tool: "read", params: `{"path":"c.txt"}`, context: ownerIn("t2")})
	_, page := v.load(http.MethodGet, "/page/talks", nil)
	text := reads(page)
	for _, want := range []string{"“Tidy up my <notes>,", "Read c.txt"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on\n%s", want, text)
		}
	}
	titled := false
	for _, link := range regexp.MustCompile(`/page/talks/[0-9a-f]{32}`).FindAllString(page, -1) {
		_, talk := v.load(http.MethodGet, link, nil)
		text += reads(talk)
		titled = titled || strings.Contains(reads(talk), "“Tidy up my <notes>,")
	}
	if !titled || strings.Contains(text, "ghp_016C") || strings.Contains(text, "something else") {
		t.Errorf("the pages say\n%s", text)
	}
	if strings.Contains(r.record(), "Tidy up") {
		t.Error("the record keeps what the owner said")
	}
}
