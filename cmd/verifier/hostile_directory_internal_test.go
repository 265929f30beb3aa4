package main

import (
	"fmt"
	"strings"
	"testing"
)

// inDirectory is a call of a server's tool by a coding agent that works somewhere.
func inDirectory(dir, path string, m map[string]any) call {
	return call{tool: "mcp__files__delete", params: fmt.Sprintf(`{"path":%q}`, path), context: with(m, "directory", dir)}
}

// TestH288AYesIsForTheDirectoryThatTheCardShows: the same call from another directory is another question, and a yes for one is not spent by the other.
func TestH288AYesIsForTheDirectoryThatTheCardShows(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("x"), "sessionKey", "agent:claude-code:s1", "sessionId", "s1", "agentId", "claude-code", "waitMs", 1)
		const here, there = "/home/me/app", "/home/me/other"
		r.allow(fetch(m))
		r.deny(inDirectory(here, "build", m))
		card := r.waits()
		if !strings.Contains(card.Text, here) {
			t.Fatal(card.Text)
		}
		r.approve(card.Ref, 0)
		if a := r.send(inDirectory(there, "build", m)); a.allowed() {
			t.Errorf("the card showed %s, and it ran in %s: %s", here, there, a.raw)
		}
		other := r.waits()
		if !strings.Contains(other.Text, there) || other.Ref == card.Ref {
			t.Errorf("the call from %s has no card of its own: %s", there, other.Text)
		}
		r.allow(inDirectory(here, "build", m))
		r.deny(inDirectory(here, "build", m)) // once
		r.refuse(other.Ref, "")

		// Both wait at once: whatever card they are on, each has its directory there.
		r.deny(inDirectory(here, "dist", m))
		r.deny(inDirectory(there, "dist", m))
		var all strings.Builder
		for _, c := range r.pending() {
			all.WriteString(c.Text + "\n")
		}
		if !strings.Contains(all.String(), here) || !strings.Contains(all.String(), there) {
			t.Errorf("two calls from two directories share a question:\n%s", all.String())
		}
		digests := map[string]bool{}
		for _, line := range r.kept() {
			if e := line.Entry; e.Tool == "mcp__files__delete" && e.Digest != "" {
				digests[e.Digest] = true
			}
		}
		if len(digests) != 2 { // "build" and "dist"
			t.Errorf("the record has %d digests for two calls", len(digests))
		}
		r.soundRecord()
	})
}

// TestH400WhatWasAdmittedBeforeTheYesAndPassesAfterItHasActedSince: a code waits for its own yes while the purchase is approved.
func TestH400WhatWasAdmittedBeforeTheYesAndPassesAfterItHasActedSince(t *testing.T) {
	t.Parallel()
	r := newRig(t, shops(t))
	m := with(r.turnIn("h400"), "waitMs", 60000)
	first := r.hold(entersCode("111111", m))
	card := r.waits()
	second := r.hold(checkout(m))
	for _, c := range r.waiting(2) {
		if c.Ref != card.Ref {
			r.approve(c.Ref, 0)
		}
	}
	if a := <-second; !a.allowed() {
		t.Fatal(a.raw)
	}
	r.approve(card.Ref, 0)
	if a := <-first; !a.allowed() {
		t.Fatal(a.raw)
	}
	r.asks(soonAsked(entersCode("222222", m)))
}
