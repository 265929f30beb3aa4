package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// Ways to write files that no card shows, after which builds ask.

var untrusted = taint.Untrusted

// building is a conversation in which a page was read, and builds pass: nothing was written unseen.
func (r *rig) building(name string) map[string]any {
	r.t.Helper()
	m := with(r.tainted(name), "waitMs", 9001)
	r.allow(bash(r.t, "make test", m))
	return m
}

// TestH603AToolThatIsNoEditorWrites: what it writes is on no card. dir_fetch, plugins, openclaw, skill_workshop and the browser's snapshot passed before.
func TestH603AToolThatIsNoEditorWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []call{
		{tool: "dir_fetch", params: `{"node":"phone","path":"/sdcard/x"}`},
		{tool: "plugins", params: `{"action":"install","packageName":"x"}`},
		{tool: "openclaw", params: `{"message":"write a Makefile"}`},
		{tool: "skill_workshop", params: `{"action":"create","name":"x"}`},
		{tool: "nodes", params: `{"action":"camera_snap","node":"phone","outPath":"Makefile"}`},
		{tool: "mcp__playwright__browser_snapshot", params: `{"filename":"conftest.py"}`},
		{tool: "mcp__filesystem__write_file", params: `{"path":"package.json","content":"{}"}`},
		{tool: "mcp__git__git_checkout", params: `{"repo_path":".","branch_name":"evil"}`},
		{tool: "browser", params: `{"action":"download","path":"go.mod"}`},
		{tool: "image_generate", params: `{"prompt":"x","filename":"Makefile"}`},
		{tool: "file_write", params: `{"node":"phone","path":"x","contentBase64":"eA=="}`},
		{tool: "process", params: `{"action":"write","sessionId":"x","data":"cp a Makefile\n"}`},
		{tool: "terminal", params: `{"action":"write","sessionId":"x","data":"cp a Makefile\n"}`},
		{tool: "code_execution", params: `{"code":"open('conftest.py','w')"}`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *config.Config) {
				c.Policy.MCP.Servers = map[string]policy.Server{"playwright": {Trust: &untrusted}, "filesystem": {Trust: &untrusted}}
			})
			m := r.building("h603")
			c.context = m
			r.yesTo(c)
			r.stops(bash(t, "make test", m))
		})
	}
}

// yesTo sends a call and lets it pass if it is asked about.
func (r *rig) yesTo(c call) {
	r.t.Helper()
	held := r.hold(c)
	for {
		select {
		case a := <-held:
			if !a.allowed() {
				r.t.Fatalf("%s %s: %s", c.tool, c.params, a.raw)
			}
			return
		default:
			if cards := r.pending(); len(cards) > 0 {
				r.approve(cards[0].Ref, 0)
			}
		}
	}
}

// TestH604APageDictatesAFileToABrowser that is named in the config: the call counted as one that looks, so that it passed unasked, and builds after it.
func TestH604APageDictatesAFileToABrowser(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Policy.MCP.Servers = map[string]policy.Server{"playwright": {Trust: &untrusted}}
	})
	m := with(r.tainted("h604"), "waitMs", 9001)
	looks := call{tool: "mcp__playwright__browser_snapshot", params: `{}`, context: m}
	r.allow(looks)
	r.allow(bash(t, "make test", m))
	for _, tool := range []string{"browser_snapshot", "browser_take_screenshot", "browser_console_messages", "browser_network_requests"} {
		r.stops(call{tool: "mcp__playwright__" + tool, params: `{"filename":"CLAUDE.md"}`, context: m})
	}
	r.approved(call{tool: "mcp__playwright__browser_snapshot", params: `{"filename":"Makefile"}`, context: m}, 0)
	r.stops(bash(t, "make test", m))
}

// TestH605WhatRunsOnInTheBackground may write later.
func TestH605WhatRunsOnInTheBackground(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"sleep 60 && cp x Makefile", "nohup ./watch.sh", "npm run dev", "python3 -m http.server", "inotifywait -m . | sh", "crontab x", "at now"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.building("h605")
			r.approved(execWith(command, `"background":true`, m), 0)
			r.stops(bash(t, "make test", m))
		})
	}
}

// TestH606LinksAndSettingsThatChangeWhatIsRead or run by a build.
func TestH606LinksAndSettingsThatChangeWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"ln -s /home/me/.ssh notes", "ln -sf ../x HEAD", "git config core.pager ./x", "git config --global diff.external ./x", "git config alias.show log", "git worktree add ../x", "git update-index --chmod=+x x", "git submodule update --init",
		"git clone https://example.com/x", "git checkout evil", "git stash pop", "git apply x.patch", "git bisect run ./x", "tar xf x.tar", "unzip x.zip", "mount --bind /etc notes", "export GIT_EXTERNAL_DIFF=./x", "alias date=./x", "make install", "pip install .", "npm install",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.building("h606")
			r.approved(bash(t, command, m), 0)
			r.stops(bash(t, "make test", m))
		})
	}
}

// turnIn is a turn of the owner's in a conversation that has read a page.
func (r *rig) turnIn(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "runId", "run-"+name, "sessionId", "s-"+name, "waitMs", 9001)
	r.allow(fetch(m))
	return m
}

// soonAsked makes a call that must ask wait only a moment.
func soonAsked(c call) call {
	c.context = with(c.context, "waitMs", 5001)
	return c
}
